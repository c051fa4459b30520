"""Shape algebra: arrays with named, ordered axes of symbolic sizes, and traces of what happens to them.

An axis is an ordered product of atoms, so (b h) is not (h b). A reshape is decided by index arithmetic: the right shape
with the wrong elements is found, said, and shown on letters. `trace_shapes` traces a function, `multi_head_attention`
and `cross_attention` write the layer of Vaswani et al. (2017) and its variants step by step.
"""

from .attention import cross_attention, multi_head_attention
from .axes import Atom, Axis, axis, read_axes
from .contracting import contract, einsum, linear, matmul
from .dependence import Dependence, dependence
from .functions import trace_shapes
from .joining import concatenate, gather, pad, repeat, select, stack, take, tile
from .named import NamedArray, as_named, named
from .pointwise import reduce, scale, softmax
from .rearranging import broadcast_to, merge, reshape, split, transpose, view
from .reshapes import Mismatch, WrongValueError, check_claim, compare_orders
from .trace import Condition, Line, Recorder, Trace, recording

__all__ = [
    "Atom",
    "Axis",
    "Condition",
    "Dependence",
    "Line",
    "Mismatch",
    "NamedArray",
    "Recorder",
    "Trace",
    "WrongValueError",
    "as_named",
    "axis",
    "broadcast_to",
    "check_claim",
    "compare_orders",
    "concatenate",
    "contract",
    "cross_attention",
    "dependence",
    "einsum",
    "gather",
    "linear",
    "matmul",
    "merge",
    "multi_head_attention",
    "named",
    "pad",
    "read_axes",
    "recording",
    "reduce",
    "repeat",
    "reshape",
    "scale",
    "select",
    "softmax",
    "split",
    "stack",
    "take",
    "tile",
    "trace_shapes",
    "transpose",
    "view",
]
