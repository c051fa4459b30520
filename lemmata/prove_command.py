"""The command `lemmata prove`: an equation between formulas, two functions of the user's files, or a file of claims.

Functions and claims are judged in worker processes under a time limit, because their code is run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .loading import is_reference
from .options import AsJson, Domain, Given, Jobs, Seed, Shapes
from .terminal import EXIT_CODES, Progress, emit_json, exit_code, fail, show_verdict, verdict_line, working

if TYPE_CHECKING:
    from .claims import Claim

What = Annotated[list[str] | None, typer.Argument(metavar="EQUATION | FORWARD BACKWARD", show_default=False, help=(
    "Two formulas, 'a == b'; or two functions of files, model.py:loss model.py:loss_grad."))]
Wrt = Annotated[str, typer.Option("--wrt", metavar="NAMES", help=(
    "For functions: the array, or arrays x,w,b in the order in which the gradients are returned. Without it the "
    "functions are claimed to be equal."))]
Cotangent = Annotated[str, typer.Option("--cotangent", metavar="NAME=SIZES", help=(
    "For an output that is an array: the parameter that takes the gradient by it, g=N,K."))]
Sizes = Annotated[str, typer.Option("--sizes", metavar="SIZES", help="Ranges of sizes: N=2..5 K=3 (K is then 3).")]
Avoid = Annotated[str,
                  typer.Option("--avoid", metavar="EXPRESSION", help="NumPy expression that must not vanish (kinks).")]
ClaimFiles = Annotated[list[Path], typer.Option("--claims", metavar="FILE", help=(
    "A file of claims, JSON lines, or a folder of them. May be repeated."))]
Seconds = Annotated[float, typer.Option("--seconds", min=0.1, help="Time limit for a claim about code.")]


def prove(what: What = None, shapes: Shapes = "", domain: Domain = "", given: Given = [], wrt: Wrt = "",  # noqa: B006
          cotangent: Cotangent = "", sizes: Sizes = "", avoid: Avoid = "", claims: ClaimFiles = [],  # noqa: B006
          jobs: Jobs = None, seconds: Seconds = 10.0, as_json: AsJson = False, seed: Seed = 0) -> None:
    """Prove an equation, a hand-written gradient, or a file of claims; or refute it.

    Proved is: for every size. Refuted is: by a counterexample, with its sizes, inputs and both values. Files of
    functions and of claims are imported or executed as Python does it: give only code that you would run.

    \b
      lemmata prove "softmax(z + c) == softmax(z)" --shapes z=K,c=
      lemmata prove model.py:loss model.py:loss_grad --wrt z --shapes z=N,K y=N,K --given "sum(y, axis=1)=1"
      lemmata prove model.py:layernorm model.py:layernorm_backward --wrt x --shapes x=B,T,C w=C b=C --cotangent g=B,T,C
      lemmata prove model.py:naive model.py:stable --shapes z=N,K
      lemmata prove --claims claims.jsonl --jobs 2 --json
    """
    words = what or []
    if claims:
        if words:
            raise typer.BadParameter("an equation or functions, or --claims; not both", param_hint="--claims")
        _prove_claims(claims, jobs, seconds, as_json, seed)
    elif len(words) == 2 and all(is_reference(w) for w in words):
        known = {"shapes": shapes, "domains": domain, "given": given, "sizes": sizes, "avoid": avoid, "seed": seed}
        _prove_functions(words, known | {"wrt": wrt, "cotangent": cotangent}, seconds, as_json)
    elif len(words) == 1 and is_reference(words[0]):
        raise typer.BadParameter(f"{words[0]} is one function; name a second, its gradient or its rewrite",
                                 param_hint="FORWARD BACKWARD")
    elif len(words) == 1:
        _prove_equation(words[0], shapes, domain, given, as_json, seed)
    else:
        said = f"{len(words)} words are given: {' '.join(words)}" if words else "nothing is asked"
        raise typer.BadParameter(f"{said}; write one equation in quotes, or two functions file.py:name",
                                 param_hint="EQUATION | FORWARD BACKWARD")


def _prove_equation(equation: str, shapes: str, domain: str, given: list[str], as_json: bool, seed: int) -> None:
    from .api import verify_derivation
    from .questions import hints, prove_equation
    from .symbolic.rendering.verdict import verdict_data

    with working("proving"):
        result = prove_equation(equation, shapes=shapes, domains=domain, given=given)
        verdict = verify_derivation(result.derivation, seed=seed)
    if as_json:
        emit_json({"name": result.name} | verdict_data(verdict))
    else:
        show_verdict(verdict, result.derivation, hints(result, verdict) if verdict.verdict != "proved" else [])
    raise typer.Exit(EXIT_CODES[verdict.verdict])


def _prove_functions(functions: list[str], known: Mapping[str, Any], seconds: float, as_json: bool) -> None:
    from .worker import Worker

    worker = Worker()
    try:
        with working("proving"):
            answer = worker.answer({"kind": "functions", "functions": functions, **known}, seconds)
    finally:
        worker.close()
    if "error" in answer:
        raise fail(answer["error"])
    text = answer.pop("text", f"{answer['verdict']}: {answer['reason']}")
    if as_json:
        emit_json({"name": " ".join(functions)} | answer)
    else:
        typer.echo(text)
    raise typer.Exit(EXIT_CODES[answer["verdict"]])


# ---------------------------------------------------------------------- files of claims
def _prove_claims(paths: list[Path], jobs: int | None, seconds: float, as_json: bool, seed: int) -> None:
    """Answers as they come, in the order of the claims; progress on standard error."""
    from .claims_running import prove_claims

    claims = [c for file in claim_files(paths) for c in _read(file)]
    verdicts = []
    with Progress("claims", len(claims)) as progress:
        for row in prove_claims(claims, jobs=jobs, seconds=seconds, seed=seed):
            verdicts.append(row["verdict"])
            with progress.interrupted():
                if as_json:
                    typer.echo(json.dumps(row, ensure_ascii=False))
                else:
                    typer.echo(verdict_line(row))
                sys.stdout.flush()
            progress.advance(row["id"])
    counted = ", ".join(f"{verdicts.count(v)} {v}" for v in EXIT_CODES if v in verdicts)
    typer.echo(f"{len(verdicts)} claims: {counted or 'none'}; seed {seed}", err=True)
    raise typer.Exit(exit_code(verdicts))


def claim_files(paths: list[Path]) -> list[Path]:
    """The files of claims, in order; a folder stands for the ``.jsonl`` files in it."""
    found = []
    for path in paths:
        inside = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not inside:
            raise fail(f"there are no .jsonl files in {path}")
        found += inside
    return found


def _read(file: Path) -> list[Claim]:
    from .claims import read_claims

    try:
        return list(read_claims(file))
    except (OSError, UnicodeDecodeError) as error:
        raise fail(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None
