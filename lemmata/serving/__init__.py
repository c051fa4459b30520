"""The live page: a question typed in a browser of this machine, the derivation and its verdict below it.

`asking` says what may be asked, `answering` answers it inside a worker process, `pool` keeps the workers, `application`
is the web application, `server` runs it on a loopback address, `page/` is what the browser gets.

Mathematics is typeset by the browser, with the KaTeX that is shipped. HTML typeset here would carry inline styles,
which the content security policy would have to allow, and V8 reserves more address space than a worker with a limit of
memory may have.
"""
