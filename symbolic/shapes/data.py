"""A trace as JSON: every line with its operands, axes, sizes and costs, as text that the language reads again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sympy as sp

from .axes import Axis, pattern
from .trace import Operand, Trace


def trace_data(trace: Trace) -> dict[str, Any]:
    """The trace as plain data; sizes are integers where they are known, else text such as ``d_k*h``."""
    return {
        "title": trace.title,
        "sizes": {str(k): _value(v) for k, v in trace.bindings.items()},
        "definitions": {str(k): str(v) for k, v in trace.definitions.items()},
        "conditions": [{"left": str(c.left), "right": str(c.right), "reason": c.reason} for c in trace.conditions],
        "lines": [
            {
                "operation": line.operation,
                "formula": line.formula,
                "einsum": line.einsum,
                "inputs": [_array(trace, o) for o in line.inputs],
                "result": _array(trace, line.result),
                "parameters": _cost(trace, line.parameters)
                | {"arrays": [_array(trace, o) for o in line.operands if o.parameter]},
                "multiply_adds": _cost(trace, line.multiply_adds),
                "index_arithmetic": line.proof,
                "why": line.why,
                "warnings": list(line.warnings),
            }
            for line in trace.lines
        ],
        "parameters": _cost(trace, trace.parameters),
        "multiply_adds": _cost(trace, trace.multiply_adds),
        "warnings": list(trace.warnings),
        "notes": list(trace.notes),
    }


def trace_json(trace: Trace) -> str:
    """The trace as JSON text."""
    return json.dumps(trace_data(trace), ensure_ascii=False, indent=1) + "\n"


def _array(trace: Trace, array: Operand) -> dict[str, Any]:
    return {
        "name": array.label,
        "axes": pattern(array.axes),
        "shape": _symbolic(array.axes),
        "sizes": [_value(n) for n in trace.sizes(array.axes)],
    }


def _symbolic(axes: Sequence[Axis]) -> list[str]:
    return ["*".join(a.base or str(a.size) for a in x.atoms) or "1" for x in axes]


def _cost(trace: Trace, value: sp.Expr) -> dict[str, Any]:
    return {"symbolic": str(trace.cost(value)), "value": _value(trace.size(value))}


def _value(value: sp.Expr) -> int | str:
    return int(value) if value.is_Integer else str(value)
