"""The web application: the page, its files, and the JSON endpoint behind it.

``POST /api/answer`` with a JSON object (``Content-Type: application/json``) is a question:

- ``ask``: ``gradient``, ``jacobian``, ``hessian``, ``vjp``, ``jvp``, ``prove``, ``theorem`` or ``mha``;
- for the derivatives ``formula``, ``wrt``, ``shapes`` (``z=K, y=K``), ``domain`` (``y=simplex``), ``given``
  (hypotheses, separated by ``;`` or line ends), ``detail`` (``brief``, ``normal``, ``full``), and ``cotangent`` or
  ``tangent``;
- for ``prove`` the same, the formula being an equation ``a == b``, without ``wrt``;
- for ``theorem`` its ``name``, and ``detail``;
- for ``mha`` the shape ``x`` (``1,10,768``), ``heads``, and ``kv_heads``, ``head_size``, ``mask``, ``cache``.

All are texts, read by the formula reader; nothing is evaluated. Status 200 is an answer: ``headline``, ``verdict``
(``proved``, ``refuted``, ``supported``, ``unsupported``), ``evidence``, ``counterexample``, ``conditions``,
``notes``, ``hints``, ``reason``, ``seconds``, the ``result`` as Markdown, the derivation as ``markdown`` and
``latex``, its code as ``numpy``; of a trace of shapes ``markdown``, ``latex`` and ``svg``. Any other status is an
error, ``{"error": {"kind", "message", "field", "position"}}``:

- 400 no question (not JSON, an unknown part); 413 more than 64 KB; 415 another content type; 421 another host's name;
- 422 a question that cannot be read: ``field`` is the part at fault, ``position`` the character in it, or null;
- 500 the process ended or Lemmata failed; 507 it needed more memory than a question may take;
- 503 all workers are busy (``Retry-After`` says when to come back); 504 the time was over.

``GET /api/theorems`` lists names, titles and topics.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flask import Flask, Response, request, send_from_directory
from werkzeug.exceptions import HTTPException

from ..typesetting import FOLDER as KATEX
from ..worker import TimeOver, WorkerEnded
from .asking import MAX_BODY, Question, RequestError, read_question
from .pool import Answer, Busy, Closed, Pool

PAGE = Path(__file__).parent / "page"

# KaTeX sets its styles through the DOM, which `style-src 'self'` allows; a flow picture is an image of a data: URL.
_POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; "
           "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_STATUS = {"question": 422, "memory": 507, "size": 507, "defect": 500, "ended": 500, "closed": 503, "busy": 503,
           "time": 504}


def application(pool: Pool, hosts: frozenset[str]) -> Flask:
    """The application. `hosts` are the names by which it may be called: a page of another site whose name leads here
    (DNS rebinding) calls it by that site's.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    app.url_map.merge_slashes = False

    @app.before_request
    def check_host() -> Response | None:
        # The header itself: Flask's request.host would fall back on the server's name.
        if request.headers.get("Host", "").lower() in hosts:
            return None
        return _error(421, "host", f"this server answers to {' and '.join(sorted(hosts))} only")

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(_HEADERS)
        # Files may be kept, but are asked for again (ETag); an answer is never kept.
        response.headers["Cache-Control"] = "no-store" if response.mimetype == "application/json" else "no-cache"
        return response

    @app.errorhandler(HTTPException)
    def http_error(error: HTTPException) -> Response:
        said = f"a request has at most {MAX_BODY} bytes" if error.code == 413 else str(error.description)
        return _error(error.code or 500, "request", said)

    @app.get("/")
    def page() -> Response:
        return send_from_directory(PAGE, "index.html")

    @app.get("/page/<name>")
    def page_file(name: str) -> Response:
        return send_from_directory(PAGE, name)

    @app.get("/katex/<path:name>")
    def katex_file(name: str) -> Response:
        return send_from_directory(KATEX, name)

    @app.post("/api/answer")
    def answer() -> Response:
        # A form of another site can send text/plain; JSON it cannot without being asked first, which is not answered.
        if request.mimetype != "application/json":
            return _error(415, "request", "a question is sent as Content-Type: application/json")
        try:
            question = read_question(json.loads(request.get_data().decode("utf-8")))
        except RequestError as error:
            return _error(400, "request", str(error), error.field)
        except UnicodeDecodeError:
            return _error(400, "request", "the request is not UTF-8")
        except (ValueError, RecursionError):
            return _error(400, "request", "the request is not JSON")
        return _asked(pool, question)

    known: list[str] = []

    @app.get("/api/theorems")
    def theorems() -> Response:
        # Asked for with every page, always the same: a worker is asked once.
        if not known:
            response = _asked(pool, {"ask": "theorems"})
            if response.status_code != 200:
                return response
            known.append(response.get_data(as_text=True))
        return Response(known[0], mimetype="application/json")

    return app


def _asked(pool: Pool, question: Question) -> Response:
    try:
        answer = pool.ask(question)
    except Busy:
        return _error(503, "busy", "all workers are busy; ask again in a moment", retry=max(1, round(pool.seconds / 2)))
    except Closed:
        return _error(503, "closed", "the server was stopped")
    except TimeOver:
        return _error(504, "time", f"this took more than {pool.seconds:g} s, the limit of this page; ask something "
                                   "smaller, or start the server with a higher limit (lemmata serve --seconds)")
    except (WorkerEnded, OSError) as error:
        return _error(500, "ended", f"{error}; a new one was started")
    status = _STATUS[answer["error"]["kind"]] if "error" in answer else 200
    return _json(status, answer)


def _error(status: int, kind: str, message: str, field: str = "", retry: int = 0) -> Response:
    response = _json(status, {"error": {"kind": kind, "message": message, "field": field, "position": None}})
    if retry:
        response.headers["Retry-After"] = str(retry)
    return response


def _json(status: int, data: Answer | dict[str, Any]) -> Response:
    return Response(json.dumps(data), status, mimetype="application/json")
