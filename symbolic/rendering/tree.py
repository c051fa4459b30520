"""The notation tree: what stands on the page, before it is LaTeX or text.

`layout` makes it from an expression and `vector_form` from matrices; `latex` and `text` write it. It says what is a
sum, a fraction, a function applied, in the order in which a reader meets them; it knows nothing about values. Signs are
always explicit (`Minus`, or the sign of a term), so a numeral is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .names import Name


@dataclass(frozen=True)
class Numeral:
    """A number that is not negative, as it is written."""

    digits: str
    kind = "atom"


@dataclass(frozen=True)
class Subscripted:
    """An element: a name with indices."""

    name: Name
    indices: tuple[Node, ...]

    @property
    def kind(self) -> str:
        """As its name: z'_i cannot take a further superscript either."""
        return self.name.kind


@dataclass(frozen=True)
class Minus:
    """-a."""

    inner: Node
    kind = "minus"


@dataclass(frozen=True)
class Terms:
    """A sum of at least two terms, each with its sign (True for minus)."""

    terms: tuple[tuple[bool, Node], ...]
    kind = "terms"


@dataclass(frozen=True)
class Factors:
    """A product of at least two factors; `join` is the sign shown: none, or elementwise ⊙ and ⊘."""

    factors: tuple[Node, ...]
    join: Literal["", "times", "over"] = ""

    @property
    def kind(self) -> str:
        """Elementwise products bind more loosely than matrix products."""
        return "elementwise" if self.join else "factors"


@dataclass(frozen=True)
class Fraction:
    """a/b, with a bar where the form has one."""

    above: Node
    below: Node
    kind = "fraction"


@dataclass(frozen=True)
class Power:
    """a^b."""

    base: Node
    exponent: Node
    kind = "power"


@dataclass(frozen=True)
class Root:
    """The square root."""

    inner: Node
    kind = "root"


@dataclass(frozen=True)
class Exponential:
    """e^a; `letter` is False where e is the name of something else."""

    inner: Node
    letter: bool = True
    kind = "exponential"


@dataclass(frozen=True)
class Call:
    """A function applied; `bare` ones are written without parentheses before a single letter (log x, sin x).

    `raised` is an integer power written at the function's name: sin²(x).
    """

    function: Name
    arguments: tuple[Node, ...]
    bare: bool = False
    raised: str = ""

    @property
    def kind(self) -> str:
        """A bare call swallows what follows it."""
        single = self.bare and len(self.arguments) == 1 and self.arguments[0].kind in ("atom", "accented")
        return "bare_call" if single else "raised_call" if self.raised else "call"


@dataclass(frozen=True)
class Big:
    """Σ, Π or max over bound letters, with the sizes they range over."""

    operator: Literal["sum", "prod", "max"]
    letters: tuple[Name, ...]
    sizes: tuple[Node, ...]
    body: Node
    kind = "big"


@dataclass(frozen=True)
class KroneckerDelta:
    """δ with two indices."""

    left: Node
    right: Node
    kind = "atom"


@dataclass(frozen=True)
class Bracket:
    """[c], 1 where c holds."""

    condition: Node
    kind = "atom"


@dataclass(frozen=True)
class Relation:
    """a = b and its relatives: =, !=, <, <=, >, >=, :=."""

    left: Node
    sign: str
    right: Node
    kind = "relation"


@dataclass(frozen=True)
class Logic:
    """Conditions joined by `and` or `or`, or one negated."""

    operator: Literal["and", "or", "not"]
    parts: tuple[Node, ...]
    kind = "logic"


@dataclass(frozen=True)
class Partial:
    """A derivative not carried out: ∂a/∂x for a single letter a, else ∂/∂x (a); of higher order by several variables.

    The variable by which is differentiated first stands last, as in ∂²a/∂y ∂x.
    """

    inner: Node
    variables: tuple[Node, ...]

    @property
    def kind(self) -> str:
        """∂a/∂x is closed by its bar, ∂/∂x (…) is not."""
        return "partial_atom" if self.inner.kind in ("atom", "accented") else "partial"


@dataclass(frozen=True)
class ArgMax:
    """The place of the largest value over a bound letter."""

    letter: Name
    body: Node
    kind = "argmax"


@dataclass(frozen=True)
class Fenced:
    """|a|, ⌊a⌋ or ⌈a⌉."""

    fence: Literal["abs", "floor", "ceiling"]
    inner: Node
    kind = "atom"


@dataclass(frozen=True)
class Pairing:
    """⟨a, b⟩, the sum of all elementwise products."""

    left: Node
    right: Node
    kind = "atom"


@dataclass(frozen=True)
class Transposed:
    """Aᵀ."""

    inner: Node
    kind = "transposed"


@dataclass(frozen=True)
class Matrix:
    """Rows of entries in parentheses; one entry a row is a column."""

    rows: tuple[tuple[Node, ...], ...]
    kind = "atom"


Node: TypeAlias = (
    "Name | Numeral | Subscripted | Minus | Terms | Factors | Fraction | Power | Root | Exponential | Call | "
    "Big | KroneckerDelta | Bracket | Relation | Logic | Partial | ArgMax | Fenced | Pairing | Transposed | Matrix"
)


def children(node: Node) -> tuple[Node, ...]:
    """The notation directly inside."""
    match node:
        case Subscripted(indices=parts) | Factors(factors=parts) | Call(arguments=parts) | Logic(parts=parts):
            return parts
        case Terms(terms=terms):
            return tuple(t for _, t in terms)
        case Matrix(rows=rows):
            return tuple(x for row in rows for x in row)
        case Fraction(above=a, below=b) | Power(base=a, exponent=b) | KroneckerDelta(left=a, right=b):
            return (a, b)
        case Relation(left=a, right=b) | Pairing(left=a, right=b):
            return (a, b)
        case Partial(inner=a, variables=parts):
            return (a, *parts)
        case Minus(inner=a) | Root(inner=a) | Exponential(inner=a) | Fenced(inner=a) | Transposed(inner=a):
            return (a,)
        case Big(body=a) | Bracket(condition=a) | ArgMax(body=a):
            return (a,)
        case _:
            return ()


def ends_open(node: Node) -> bool:
    """Whether the notation ends with a big operator, which would swallow what follows."""
    match node:
        case Factors(factors=(*_, last), join=""):
            return ends_open(last)
        case Minus(inner=inner):
            return ends_open(inner)
    return isinstance(node, (Big, ArgMax))


def tall(node: Node) -> bool:
    """Whether it would be hard to read in a superscript: big operators, derivatives, exponentials of exponentials."""
    return isinstance(node, (Big, Partial, Exponential, ArgMax, Matrix)) or any(tall(c) for c in children(node))
