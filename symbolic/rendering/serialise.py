"""Expressions and derivations as JSON and back, without eval: nested lists, one head a node type.

Indices and tensors are tables that the lists refer to by number. A free index has no letter as its identity, so
reading makes fresh ones (in the order of the file, which is the order of their making); what is read is equal to what
was written up to that renaming, and writes the same bytes again. `expression_from_json(..., indices=...)` takes given
indices instead.

>>> from lemmata.symbolic.language.arrays import array
>>> from lemmata.symbolic.language.indices import index
>>> i = index("i", "K")
>>> z_i = array("z", "K").element(i)
>>> data = expression_to_json(z_i - 1)
>>> data["expression"]
['add', -1, ['element', 0, ['index', 0]]]
>>> expression_from_json(data, indices=[i]) == z_i - 1
True
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import sympy as sp
from mpmath.libmp import repr_dps, to_str
from sympy.logic.boolalg import And, Not, Or

from ..derivations.model import Derivation, Step
from ..language import nodes
from ..language.domains import domain
from ..language.errors import FormulaError, UnsupportedError
from ..language.hypotheses import Hypothesis
from ..language.indices import Index, bound_index
from ..language.nodes import DefinedTensor, Element, Tensor, free_indices
from ..language.operations import BY_FUNCTION, OPERATIONS
from ..language.sizes import Size

FORMAT = "lemmata.derivation/1"
_BINDERS = {nodes.IndexSum: "sum", nodes.IndexProduct: "prod", nodes.IndexMax: "max", nodes.ArgMaxIndicator: "argmax"}
_PLAIN: dict[Any, str] = {
    nodes.Delta: "delta",
    nodes.Indicator: "indicator",
    nodes.PartialDerivative: "partial",
    sp.Eq: "==",
    sp.Ne: "!=",
    sp.Lt: "<",
    sp.Le: "<=",
    sp.Gt: ">",
    sp.Ge: ">=",
    And: "and",
    Or: "or",
    Not: "not",
    sp.Max: "maximum",
    sp.Min: "minimum",
    sp.floor: "floor",
    sp.ceiling: "ceiling",
    sp.Mod: "mod",
    sp.polygamma: "polygamma",
    sp.gamma: "gamma",
    sp.erfc: "erfc",
}
_ARITHMETIC = {sp.Add: "add", sp.Mul: "mul", sp.Pow: "pow"}
_CONSTANTS = {"pi": sp.pi, "e": sp.E, "oo": sp.oo, "-oo": -sp.oo, "true": sp.true, "false": sp.false}
_CONSTANT_NAMES = {v: k for k, v in _CONSTANTS.items()}
_READ_BINDER = {v: k for k, v in _BINDERS.items()}
_READ_PLAIN = {v: k for k, v in _PLAIN.items()}


class _Writer:
    def __init__(self, expressions: Iterable[sp.Basic], indices: Sequence[Index] = ()) -> None:
        found = {i for e in expressions for i in free_indices(e)} | set(indices)
        # by age: a reader that makes fresh ones in this order keeps the order in which SymPy sorts
        self.free = {i: n for n, i in enumerate(sorted(found, key=lambda i: (i.serial, i.name)))}
        self.tensors: dict[Tensor, int] = {}
        self.rows: list[dict[str, Any]] = []

    def tensor(self, t: Tensor) -> int:
        if t in self.tensors:
            return self.tensors[t]
        try:
            known = domain(t.domain.name) == t.domain
        except Exception:
            known = False
        if not known:
            raise UnsupportedError(f"the domain {t.domain.name!r} of {t.name} has no name that can be read again")
        row: dict[str, Any] = {"name": t.name, "shape": [self(n) for n in t.shape], "domain": t.domain.name}
        if isinstance(t, DefinedTensor):
            row |= {"parameters": [self(i) for i in t.parameters], "body": self(t.body), "origin": t.origin}
        self.tensors[t] = len(self.rows)
        self.rows.append(row)
        return self.tensors[t]

    def __call__(self, e: Any) -> Any:
        if isinstance(e, Index):
            return ["bound", e.level, self(e.size)] if e.is_bound else ["index", self.free[e]]
        if isinstance(e, Tensor):
            return ["tensor", self.tensor(e)]
        if isinstance(e, Size):
            return ["size", e.name]
        if isinstance(e, sp.Dummy):
            raise UnsupportedError(f"the dummy symbol {e} has no name to be read again; use a named symbol")
        if isinstance(e, sp.Symbol):
            return ["symbol", e.name, dict(sorted((k, v) for k, v in e._assumptions_orig.items() if v is not None))]
        if e in _CONSTANT_NAMES and not (e.is_Number and e.is_finite):
            return ["constant", _CONSTANT_NAMES[e]]
        if isinstance(e, sp.Integer):
            return int(e)
        if isinstance(e, sp.Rational):
            return ["rational", int(e.p), int(e.q)]
        if isinstance(e, sp.Float):
            return ["float", to_str(e._mpf_, repr_dps(e._prec)), e._prec]
        if isinstance(e, Element):
            return ["element", self.tensor(e.tensor), *(self(i) for i in e.indices)]
        if type(e) in _BINDERS:
            return [_BINDERS[type(e)], *(self(a) for a in e.args)]
        if type(e) in _ARITHMETIC:
            return [_ARITHMETIC[type(e)], *(self(a) for a in e.args)]
        if type(e) in (And, Or):  # SymPy keeps these as sets
            return [_PLAIN[type(e)], *sorted((self(a) for a in e.args), key=json.dumps)]
        if type(e) in _PLAIN:
            return [_PLAIN[type(e)], *(self(a) for a in e.args)]
        row = BY_FUNCTION.get(e.func)
        if row is not None:
            return ["function", row.name, *(self(a) for a in e.args)]
        raise UnsupportedError(f"{type(e).__name__} is not written to JSON: it is not a node of the language")


class _Reader:
    def __init__(self, data: dict[str, Any], indices: Sequence[Index] | None) -> None:
        self.tensors: list[Tensor] = []
        self.free: list[Index] = []
        given = list(indices) if indices is not None else None
        if given is not None and len(given) != len(data["indices"]):
            raise FormulaError(f"the file has {len(data['indices'])} free indices, given {len(given)}")
        for n, row in enumerate(data["indices"]):
            self.free.append(given[n] if given else Index(str(row["letter"]), self(row["size"])).fresh())
        for row in data["tensors"]:
            shape = tuple(self(n) for n in row["shape"])
            if "body" in row:
                parameters = tuple(self(p) for p in row["parameters"])
                self.tensors.append(
                    DefinedTensor(row["name"], parameters, self(row["body"]), row["origin"], row["domain"])
                )
            else:
                self.tensors.append(Tensor(row["name"], shape, row["domain"]))

    def __call__(self, data: Any) -> Any:
        if isinstance(data, int) and not isinstance(data, bool):
            return sp.Integer(data)
        if not isinstance(data, list) or not data or not isinstance(data[0], str):
            raise FormulaError(
                f"not an expression in JSON: {data!r}; an integer or a list that begins with a node's name is"
            )
        head, *rest = data
        try:
            return self._node(head, rest)
        except (IndexError, TypeError, ValueError) as error:
            if isinstance(error, FormulaError):
                raise
            raise FormulaError(f"cannot read the node {json.dumps(data)[:200]}: {error}") from None

    def _node(self, head: str, rest: list[Any]) -> Any:
        match head:
            case "index":
                return self.free[rest[0]]
            case "bound":
                return bound_index(self(rest[1]), int(rest[0]))
            case "tensor":
                return self.tensors[rest[0]]
            case "size":
                return Size(rest[0])
            case "symbol":
                return sp.Symbol(rest[0], **rest[1])
            case "constant":
                return _CONSTANTS[rest[0]]
            case "rational":
                return sp.Rational(rest[0], rest[1])
            case "float":
                return sp.Float(rest[0], precision=rest[1])
            case "element":
                return Element(self.tensors[rest[0]], *map(self, rest[1:]))
            case "add" | "mul":
                # as it was: not evaluated, and in the order of the file
                return (sp.Add if head == "add" else sp.Mul)(*map(self, rest), evaluate=False)
            case "pow":
                return sp.Pow(*map(self, rest), evaluate=False)
            case "function":
                if rest[0] not in OPERATIONS:
                    raise FormulaError(
                        f"unknown function {rest[0]!r} in the file; known: {', '.join(sorted(OPERATIONS))}"
                    )
                return OPERATIONS[rest[0]].function(*map(self, rest[1:]), evaluate=False)
        if head in _READ_BINDER:
            return _READ_BINDER[head](*map(self, rest))
        if head in _READ_PLAIN:
            node = _READ_PLAIN[head]
            own = issubclass(node, nodes.IndexNode)
            return node(*map(self, rest)) if own else node(*map(self, rest), evaluate=False)
        raise FormulaError(f"unknown node {head!r} in the file")


def expression_to_json(expression: sp.Basic, indices: Sequence[Index] = ()) -> dict[str, Any]:
    """One expression as plain data, with its tables of indices and tensors."""
    writer = _Writer([expression], indices)
    body = writer(expression)
    return _tables(writer) | {"expression": body}


def expression_from_json(data: dict[str, Any], indices: Sequence[Index] | None = None) -> Any:
    """Read what `expression_to_json` wrote; `FormulaError` for anything else."""
    return _Reader(data, indices)(data["expression"])


def _tables(writer: _Writer) -> dict[str, Any]:
    return {"indices": [{"letter": i.name, "size": writer(i.size)} for i in writer.free], "tensors": writer.rows}


def derivation_to_json(d: Derivation) -> str:
    """A derivation as JSON text: the statement, every step with its rule, definitions, hypotheses and parts.

    The tables of indices and arrays are one for the whole file, whose parts refer to them too.
    """
    every = [d, *_all_parts(d)]
    expressions = [x for p in every for x in _expressions(p)]
    free = [i for p in every for i in (*p.indices, *(i for h in p.hypotheses for i in h.indices))]
    writer = _Writer(expressions, free)
    body = {"format": FORMAT} | _written(d, writer)
    return json.dumps(_tables(writer) | body, ensure_ascii=False, indent=1)


def _all_parts(d: Derivation) -> list[Derivation]:
    return [x for p in d.parts for x in (p, *_all_parts(p))]


def _expressions(d: Derivation) -> list[sp.Basic]:
    return [
        d.left,
        d.right,
        *(x for s in d.steps for x in (s.before, s.after)),
        *([d.variable] if d.variable else []),
        *(x for h in d.hypotheses for x in (h.left, h.right)),
    ]


def _written(d: Derivation, writer: _Writer) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": d.name,
        "title": d.title,
        "source": d.source,
        "left": writer(d.left),
        "right": writer(d.right),
        "free": [writer(i) for i in d.indices],
        "variable": None if d.variable is None else writer(d.variable),
        "declared": [writer.tensor(t) for t in d.tensors],
        "definitions": [writer.tensor(t) for t in d.definitions],
        "hypotheses": [
            {
                "relation": h.relation,
                "left": writer(h.left),
                "right": writer(h.right),
                "indices": [writer(i) for i in h.indices],
            }
            for h in d.hypotheses
        ],
        "steps": [
            {
                "before": writer(s.before),
                "after": writer(s.after),
                "rule": s.rule,
                "why": s.why,
                "phase": s.phase,
                "rules": list(s.rules),
            }
            for s in d.steps
        ],
        "uses": list(d.uses),
        "notes": list(d.notes),
    }
    if d.parts:
        data["parts"] = [_written(p, writer) for p in d.parts]
    if d.adjoint is not None:
        data["adjoint"] = writer.tensor(d.adjoint)
    return data


def derivation_from_json(text: str | dict[str, Any], indices: Sequence[Index] | None = None) -> Derivation:
    """Read a derivation; `extra` is not part of the file. `FormulaError` names what cannot be read."""
    try:
        data = json.loads(text) if isinstance(text, str) else text
    except json.JSONDecodeError as error:
        raise FormulaError(f"not a JSON file: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormulaError(f"not a derivation file: the key 'format' must be {FORMAT!r}")
    try:
        return _derivation(data, _Reader(data, indices))
    except KeyError as error:
        raise FormulaError(f"the derivation file lacks the key {error}") from None


def _derivation(data: dict[str, Any], read: _Reader) -> Derivation:
    adjoint = None if data.get("adjoint") is None else read.tensors[data["adjoint"]]
    if adjoint is not None and not isinstance(adjoint, DefinedTensor):
        raise FormulaError(f"the adjoint {adjoint.name} of the part {data['name']!r} has no definition in the file")
    return Derivation(
        name=data["name"],
        left=read(data["left"]),
        right=read(data["right"]),
        indices=tuple(map(read, data["free"])),
        steps=tuple(
            Step(read(s["before"]), read(s["after"]), s["rule"], s["why"], s["phase"], tuple(s["rules"]))
            for s in data["steps"]
        ),
        definitions=tuple(_defined(read.tensors[n]) for n in data["definitions"]),
        hypotheses=tuple(
            Hypothesis(h["relation"], read(h["left"]), read(h["right"]), tuple(map(read, h["indices"])))
            for h in data["hypotheses"]
        ),
        tensors=tuple(read.tensors[n] for n in data["declared"]),
        variable=None if data["variable"] is None else read(data["variable"]),
        title=data["title"],
        source=data["source"],
        uses=tuple(data["uses"]),
        notes=tuple(data["notes"]),
        parts=tuple(_derivation(p, read) for p in data.get("parts", ())),
        adjoint=adjoint,
    )


def _defined(t: Tensor) -> DefinedTensor:
    if not isinstance(t, DefinedTensor):
        raise FormulaError(f"{t.name} stands among the definitions of the file and has none")
    return t
