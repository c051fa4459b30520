"""Functions from public sources, where a folder of them is given: how many are read, and that what is read is faithful.

``LEMMATA_CLAIMS`` names a folder of claims (JSON lines: forward, claimed, shapes, domain); without it nothing runs.
``python -m pytest -s`` prints the table and the reasons of what is not read.
"""

import ast
import collections
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.special
import sympy as sp

from lemmata.symbolic.language.arrays import Array, array
from lemmata.symbolic.language.errors import LemmataError
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.tracing import trace_expression, trace_source

from .evaluate import value

FOLDER = os.environ.get("LEMMATA_CLAIMS", "")
LEAST = {"scalar": 0.99, "tensor": 0.95, "false": 0.94}  # the share of functions that must be read

pytestmark = pytest.mark.skipif(not FOLDER, reason="LEMMATA_CLAIMS names no folder of claims")


def read_size(text: Any) -> sp.Expr:
    """A size of a claim; ``M if M < N else N`` is the smaller of two."""
    found = re.fullmatch(r"(\w+) if (\w+) < (\w+) else (\w+)", str(text))
    return sp.Min(size(found[1]), size(found[4])) if found else size(str(text))


def parameters(source: str, name: str) -> list[str]:
    """The parameters of a function in a source."""
    function = next(n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == name)
    return [a.arg for a in function.args.args]


def shape_of(claim: dict[str, Any], name: str) -> list[str] | None:
    """The shape of an argument; None for an integer."""
    upstream = claim.get("upstream")
    return upstream["shape"] if upstream and name == upstream["name"] else claim["shapes"].get(name)


def read(claim: dict[str, Any], part: str, name: str) -> Array:
    """One function of a claim as an index expression."""
    domain = claim["domain"]
    if "params" in claim:
        return trace_expression(claim[part], {p: array(p, "", domain.get(p, "real")) for p in claim["params"]})
    given: dict[str, Any] = {}
    for p in parameters(claim[part], name):
        shape = shape_of(claim, p)
        given[p] = size(p) if shape is None else array(p, [read_size(s) for s in shape], domain.get(p, "real"))
    return trace_source(claim[part], name, given)


def draw(domain: str, shape: tuple[int, ...], sizes: dict[str, int], rng: np.random.Generator) -> Any:
    """A random value of a domain."""
    if "index<" in domain:
        return rng.integers(eval(domain.split("<")[1].split(" or")[0], {}, dict(sizes)), size=shape)
    drawn = rng.normal(size=shape)
    if domain in ("spd", "posdef_nonsym", "invertible", "lower", "fullrank", "symmetric", "rank_one_less"):
        return drawn + (3 * np.eye(*shape) if domain != "symmetric" else drawn.T)
    if domain in ("binary", "mask", "onehot"):
        return (drawn > 0).astype(float)
    if domain == "pm1" or domain.startswith("{"):
        return rng.choice([-1.0, 1.0] if domain == "pm1" else [float(v) for v in domain[1:-1].split(",")], size=shape)
    pieces = {"positive": "(0,inf)", "simplex": "(0,1)", "one_zero": "(0,1)"}.get(domain, domain)
    if not pieces.startswith("("):
        return drawn
    low, high = (float(v) for v in rng.choice(pieces.split("|"))[1:-1].split(","))
    low, high = max(low, min(-3.0, high - 3)), min(high, max(3.0, low + 3))
    return low + (high - low) * rng.uniform(0.05, 0.95, size=shape)


def faithful(claim: dict[str, Any], part: str, name: str, found: Array) -> bool:
    """Whether reading and running agree at drawn inputs."""
    rng = np.random.default_rng(11)
    space: dict[str, Any] = {"np": np, "scipy": scipy}
    domain = claim["domain"]
    if "params" in claim:
        exec(f"def {name}({', '.join(claim['params'])}): return {claim[part]}", space)
    else:
        exec(claim[part], space)
    letters = sorted(set(re.findall(r"[A-Za-z_]+", json.dumps([claim.get("shapes"), claim.get("upstream")]))))
    for least in (1, 2):
        if "L-K" in json.dumps(claim.get("upstream")):  # a convolution needs a signal longer than its kernel
            claim = {**claim, "dims": {"L": [4 + least, 9], "K": [least, 3]}}
        names = claim["params"] if "params" in claim else parameters(claim[part], name)
        limits = claim.get("dims", {})
        sizes = {
            c: max(limits.get(c, [1, 4])[0], min(limits.get(c, [1, 4])[1], least + n % 3))
            for n, c in enumerate(letters)
        }
        inputs: dict[str, Any] = {}
        for p in names:
            shape = [] if "params" in claim else shape_of(claim, p)
            if shape is None:
                inputs[p] = sizes[p]
                continue
            numbers = tuple(int(eval(str(s), {}, dict(sizes))) for s in shape)
            drawn = draw(domain.get(p, "real"), numbers, sizes, rng)
            inputs[p] = drawn if numbers else float(drawn)
        wanted = np.asarray(
            space[name](**{p: v.copy() if isinstance(v, np.ndarray) else v for p, v in inputs.items()}), float
        )
        got = value(found, inputs, sizes)
        if got.shape != wanted.shape or not np.allclose(got, wanted, rtol=1e-7, atol=1e-9, equal_nan=True):
            return False
    return True


@pytest.mark.parametrize("file", ["scalar", "tensor", "false"])
def test_public_claims_are_read_and_read_faithfully(file):
    counted: collections.Counter[str] = collections.Counter()
    wrong, reasons = [], []
    for line in (Path(FOLDER) / f"{file}.jsonl").read_text().splitlines():
        claim = json.loads(line)
        for part in ("forward", "claimed"):
            name = "forward" if part == "forward" else "backward"
            try:
                found = read(claim, part, name)
            except LemmataError as error:
                counted["not read"] += 1
                reasons.append(f"{claim['id']} {part}: {error}")
                continue
            counted["read"] += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not faithful(claim, part, name, found):
                    wrong.append(f"{claim['id']} {part}")
    print(f"\n{file}: {dict(counted)}", *reasons, sep="\n  ")
    assert not wrong
    assert counted["read"] >= LEAST[file] * counted.total()
