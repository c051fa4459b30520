"""The command line: `lemmata list`, `derive`, `gradient`, `prove`, `verify`, `check`, `reference` and their kin.

Each command reads its words, asks one function elsewhere, and prints. What needs SymPy or NumPy is imported inside the
commands, so that `lemmata --help` answers at once.

Exit codes: 0 proved (or nothing to prove), 1 refuted, 2 usage or unsupported, 3 supported but not proved.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__
from .arguments import Commands, FormulaCommand, known_topic
from .loading import is_reference, load_function
from .options import (
    AsJson,
    Detail,
    DetailName,
    Domain,
    Engine,
    EngineName,
    Format,
    FormatName,
    Formula,
    FormulaOrFunction,
    Given,
    Jobs,
    Output,
    Seed,
    Shapes,
    Wrt,
)
from .prove_command import prove
from .serve_command import serve
from .shapes_command import shapes
from .terminal import (
    EXIT_CODES,
    emit_json,
    exit_code,
    fail,
    show_table,
    show_verdict,
    verdict_table,
    with_progress,
    working,
)
from .weave_command import weave
from .writing import Writing

if TYPE_CHECKING:
    from .questions import Kind
    from .result import Result
    from .symbolic.derivations.model import Derivation

app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})
app.add_typer(shapes, name="shapes")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"lemmata {__version__}")
        raise typer.Exit


@app.callback()
def lemmata(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                                  help="Print the version.")] = False) -> None:
    """Derive, prove and check the mathematics of deep learning, for every size.

    Begin with:

    \b
      lemmata list
      lemmata derive deriv_softmax
      lemmata gradient "-sum(y*log(softmax(z)))" --wrt z --shapes z=K,y=K --given "sum(y)=1"
      lemmata prove "softmax(z + c) == softmax(z)" --shapes z=K,c=
      lemmata prove model.py:loss model.py:loss_grad --wrt z --shapes z=N,K y=N,K

    Exit codes: 0 proved, 1 refuted, 2 usage or unsupported, 3 supported but not proved.
    """


# ---------------------------------------------------------------------- what is known
@app.command("list")
def list_theorems(topic: Annotated[str, typer.Option("--topic", metavar="TOPIC", help="Only this topic.")] = "",
                  as_json: AsJson = False) -> None:
    """List the theorems by topic.

    \b
      lemmata list
      lemmata list --topic softmax
    """
    from .api import theorems

    known = list(theorems().values())
    topics = list(dict.fromkeys(t.topic for t in known))
    chosen = [known_topic(topic, topics)] if topic else topics
    found = [t for name in chosen for t in known if t.topic == name]
    if as_json:
        emit_json([{"name": t.name, "topic": t.topic, "title": t.title, "source": t.source} for t in found])
        return
    rows: list[list[str | tuple[str, str]]] = []
    for name in chosen:
        rows.append([(name, "bold"), ""])
        rows.extend([f"  {t.name}", t.title] for t in found if t.topic == name)
    show_table(["theorem", "title"], rows, wrapped=("title",))
    typer.echo(f"{len(found)} theorems. Show one: lemmata derive {found[0].name}")


@app.command("rules")
def list_rules(as_json: AsJson = False) -> None:
    """List the rules that steps are named by.

    \b
      lemmata rules
    """
    from . import api  # noqa: F401  (the rules of operations are registered with it)
    from .symbolic.calculus.rules import RULES

    rows = list(RULES.values())
    if as_json:
        keys = ("name", "statement", "condition", "why", "source")
        emit_json([{k: getattr(r, k) for k in keys} for r in rows])
        return
    show_table(["rule", "statement", "condition"], [[r.name, r.statement, r.condition] for r in rows],
               wrapped=("statement", "condition"))


@app.command()
def derive(name: Annotated[str, typer.Argument(metavar="NAME", help="A theorem's name; see 'lemmata list'.")],
           detail: Detail = DetailName.normal, form: Format = FormatName.text, output: Output = None,
           engine: Engine = EngineName.typst) -> None:
    """Show the derivation of a theorem, step by step.

    \b
      lemmata derive deriv_cross_entropy_softmax
      lemmata derive deriv_softmax --format latex --detail brief
      lemmata derive hessian_logsumexp --format tex-input -o hessian.tex
      lemmata derive hessian_logsumexp -o hessian.pdf
    """
    from .api import lookup_theorem

    Writing(detail, form, output, engine).write(lookup_theorem(name))


# ---------------------------------------------------------------------- questions
@app.command(cls=FormulaCommand)
def gradient(formula: FormulaOrFunction, wrt: Wrt, shapes: Shapes = "", domain: Domain = "",
             given: Given = [],  # noqa: B006
             cotangent: Annotated[str, typer.Option("--cotangent", metavar="NAME=SIZES", help=(
                 "For a function that returns an array: g=N,K; the answer is then the vector-Jacobian product."))] = "",
             detail: Detail = DetailName.normal, form: Format = FormatName.text, output: Output = None,
             engine: Engine = EngineName.typst, as_json: AsJson = False, seed: Seed = 0) -> None:
    """Derive and prove the gradient of a scalar formula, or of a function in a file.

    The file is imported as Python imports it, so its code runs.

    \b
      lemmata gradient "-sum(y*log(softmax(z)))" --wrt z --shapes z=K,y=K --given "sum(y)=1"
      lemmata gradient "mean((X @ w - t)**2)" --wrt w --shapes X=N,D w=D t=N --format numpy
      lemmata gradient model.py:loss --wrt z --shapes z=N,K y=N,K --format numpy
    """
    if is_reference(formula):
        from .proving import gradient_of

        function = load_function(formula)
        _show(lambda: gradient_of(function, wrt, shapes, domains=domain, given=given, cotangent=cotangent),
              "gradient" if not cotangent else "vjp", Writing(detail, form, output, engine), as_json, seed)
    elif cotangent:
        raise typer.BadParameter("a formula with a cotangent is asked for with 'lemmata vjp'", param_hint="--cotangent")
    else:
        writing = Writing(detail, form, output, engine)
        _answer("gradient", formula, wrt, shapes, domain, given, "", writing, as_json, seed)


@app.command(cls=FormulaCommand)
def jacobian(formula: Formula, wrt: Wrt, shapes: Shapes = "", domain: Domain = "", given: Given = [],  # noqa: B006
             detail: Detail = DetailName.normal, form: Format = FormatName.text, output: Output = None,
             engine: Engine = EngineName.typst, as_json: AsJson = False, seed: Seed = 0) -> None:
    """Derive and prove all partial derivatives of a formula.

    \b
      lemmata jacobian "softmax(z)" --wrt z --shapes z=K
    """
    _answer("jacobian", formula, wrt, shapes, domain, given, "", Writing(detail, form, output, engine), as_json, seed)


@app.command(cls=FormulaCommand)
def hessian(formula: Formula, wrt: Wrt, shapes: Shapes = "", domain: Domain = "", given: Given = [],  # noqa: B006
            detail: Detail = DetailName.normal, form: Format = FormatName.text, output: Output = None,
            engine: Engine = EngineName.typst, as_json: AsJson = False, seed: Seed = 0) -> None:
    """Derive and prove the second derivatives of a scalar formula.

    \b
      lemmata hessian "logsumexp(z)" --wrt z --shapes z=K
    """
    _answer("hessian", formula, wrt, shapes, domain, given, "", Writing(detail, form, output, engine), as_json, seed)


@app.command(cls=FormulaCommand)
def vjp(formula: Formula, wrt: Wrt, shapes: Shapes = "", domain: Domain = "", given: Given = [],  # noqa: B006
        cotangent: Annotated[str, typer.Option("--cotangent", metavar="NAME", help="Its name, or name=sizes.")] = "g",
        detail: Detail = DetailName.normal, form: Format = FormatName.text, output: Output = None,
        engine: Engine = EngineName.typst, as_json: AsJson = False, seed: Seed = 0) -> None:
    """Derive and prove a vector-Jacobian product.

    This is what backpropagation computes: the cotangent of the formula in, the cotangent of the array out.

    \b
      lemmata vjp "softmax(z)" --wrt z --shapes z=K
      lemmata vjp "X @ W" --wrt W --shapes X=N,D W=D,M --cotangent G=N,M
    """
    _answer("vjp", formula, wrt, shapes, domain, given, cotangent, Writing(detail, form, output, engine), as_json, seed)


@app.command(cls=FormulaCommand)
def jvp(formula: Formula, wrt: Wrt, shapes: Shapes = "", domain: Domain = "", given: Given = [],  # noqa: B006
        tangent: Annotated[str, typer.Option("--tangent", metavar="NAME", help="Its name, or name=sizes.")] = "v",
        detail: Detail = DetailName.normal, form: Format = FormatName.text, output: Output = None,
        engine: Engine = EngineName.typst, as_json: AsJson = False, seed: Seed = 0) -> None:
    """Derive and prove a Jacobian-vector product.

    This is the derivative of the formula in one direction, the tangent.

    \b
      lemmata jvp "softmax(z)" --wrt z --shapes z=K
    """
    _answer("jvp", formula, wrt, shapes, domain, given, tangent, Writing(detail, form, output, engine), as_json, seed)


def _answer(kind: Kind, formula: str, wrt: str, shapes: str, domain: str, given: list[str], direction: str,
            writing: Writing, as_json: bool, seed: int) -> None:
    from .questions import derive_formula

    _show(lambda: derive_formula(kind, formula, wrt, shapes=shapes, domains=domain, given=given, direction=direction),
          kind, writing, as_json, seed)


def _show(derived: Callable[[], Result], kind: Kind, writing: Writing, as_json: bool, seed: int) -> None:
    """Derive, prove and print."""
    from .api import verify_derivation
    from .questions import data, hints
    from .symbolic.rendering.verdict import verdict_data

    with working("deriving and proving"):
        result = derived()
        verdict = verify_derivation(result.derivation, seed=seed)
    if as_json:
        emit_json({"name": result.name} | data(result, kind) | verdict_data(verdict))
        raise typer.Exit(EXIT_CODES[verdict.verdict])
    writing.write(result, kind)
    if writing.for_reading:
        typer.echo()
        show_verdict(verdict, result.derivation, hints(result, verdict))
    elif verdict.verdict != "proved":  # a file holds the derivation alone; that it is not proved is still said
        typer.echo(f"warning: {verdict.verdict}: {verdict.reason or 'not proved'}", err=True)
    raise typer.Exit(EXIT_CODES[verdict.verdict])


app.command(cls=FormulaCommand)(prove)
app.command()(serve)
app.command()(weave)


# ---------------------------------------------------------------------- everything again
@app.command()
def verify(names: Annotated[list[str] | None, typer.Argument(metavar="NAME", show_default=False,
                                                             help="Theorems; all of them without a name.")] = None,
           jobs: Jobs = None, as_json: AsJson = False, seed: Seed = 0) -> None:
    """Verify theorems: proof, NumPy and differences.

    Each step is proved on two paths that share no code; then generated NumPy is compared with hand-written NumPy and
    with finite differences.

    \b
      lemmata verify --jobs 2
      lemmata verify deriv_softmax hessian_logsumexp --json
    """
    from .parallel import chosen_theorems, run, verified

    wanted = [t.name for t in chosen_theorems(names or [])]
    rows = with_progress("verifying", run(verified, wanted, seed=seed, jobs=jobs), len(wanted))
    if as_json:
        emit_json(rows)
    else:
        verdict_table(rows, seed)
    raise typer.Exit(exit_code(r["verdict"] for r in rows))


@app.command()
def check(file: Annotated[Path, typer.Argument(metavar="FILE", help="A derivation saved with --format json.")],
          engine: Engine = EngineName.typst, as_json: AsJson = False, seed: Seed = 0) -> None:
    """Replay a saved derivation and prove its steps again.

    A line that was changed is named, and the exit code is 1.

    \b
      lemmata derive deriv_softmax --format json -o derivation.json
      lemmata check derivation.json
    """
    from . import api  # noqa: F401  (it registers what the nodes of a derivation need)
    from .symbolic.derivations.replay import replay
    from .symbolic.rendering.verdict import verdict_data

    d = _read_derivation(file)
    with working("replaying"):
        verdict = replay(d, seed=seed)
    if as_json:
        emit_json({"name": d.name, "hypotheses": [str(h) for h in d.hypotheses]} | verdict_data(verdict))
        raise typer.Exit(EXIT_CODES[verdict.verdict])
    from .symbolic.rendering import text

    typer.echo(f"{d.title or d.name or file}")
    typer.echo(f"  statement: {text(d.left)} = {text(d.right)}, in {len(d.steps)} steps")
    typer.echo(f"  hypotheses: {'; '.join(str(h) for h in d.hypotheses) or 'none'}")
    show_verdict(verdict, d)
    raise typer.Exit(EXIT_CODES[verdict.verdict])


def _read_derivation(file: Path) -> Derivation:
    from .symbolic.language.errors import LemmataError
    from .symbolic.rendering.serialise import derivation_from_json

    try:
        return derivation_from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise fail(f"cannot read {file}: {error.strerror}") from None
    except LemmataError as error:
        raise fail(f"{file}: {error}") from None
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:  # another file's JSON
        raise fail(f"{file}: not a derivation file: {type(error).__name__}: {error}. "
                   "Make one: lemmata derive NAME --format json -o FILE") from None


@app.command()
def reference(output: Annotated[Path, typer.Option("--output", metavar="FOLDER", file_okay=False,
                                                   help="Where the pages go.")] = Path("build/reference"),
              jobs: Jobs = None, seed: Seed = 0) -> None:
    """Verify every theorem and write all derivations.

    Each as LaTeX and Markdown, with an index and the verdicts as JSON. Two runs write the same bytes.

    \b
      lemmata reference --output build/reference --jobs 2
    """
    from .parallel import chosen_theorems, run
    from .reference import INDEX, page, write

    names = [t.name for t in chosen_theorems([])]
    rows = with_progress("verifying", run(page, names, seed=seed, jobs=jobs), len(names))
    try:
        written = write(rows, output, seed)
    except OSError as error:
        raise fail(f"cannot write to {output}: {error.strerror}") from None
    verdict_table(rows, seed)
    typer.echo(f"{len(written)} files in {output}; begin with {output / INDEX}")
    raise typer.Exit(exit_code(r["verdict"] for r in rows))


def main() -> Any:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without Σ shows ?, and does not stop with an error
            stream.reconfigure(errors="replace")
    return app()
