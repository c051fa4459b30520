"""A trace as a flow picture in SVG: a box an operation, an arrow an array, from the input at the top to the result.

Rows are the depth of an operation; what has no operand stands just above where it is used. Everything is computed from
the lines, in their order, so the same trace gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape

from .notation import cost, scalar, sizes, symbols
from .trace import Line, Trace

_LETTER, _SMALL = 7.2, 6.3  # width of a letter at 12 and at 10.5 pixels, sans serif, on the safe side
_PADDING, _LINE, _GAP_X, _GAP_Y, _MARGIN, _HEAD = 12, 17, 34, 40, 24, 74
_FONT = 'font-family="DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"'
# fill and border of a box by the kind of its operation; all light, so that dark text is readable on them
_COLOURS = {
    "input": ("#f4f4f5", "#71717a"),
    "linear map": ("#e3effd", "#2563b0"),
    "batched matmul": ("#fdeedd", "#b45309"),
    "contraction": ("#fdeedd", "#b45309"),
    "softmax": ("#e9f6e7", "#2e7d32"),
    "scale": ("#e9f6e7", "#2e7d32"),
    "mask": ("#fbe9ee", "#ad1457"),
}
_PLAIN = ("#f6f1fb", "#6b4ea0")
_WRONG = ("#fdecea", "#c62828")


@dataclass
class _Box:
    line: Line
    texts: list[tuple[str, str]]  # text and its style
    sources: list[int]
    row: int = 0
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


_STYLES = {
    "head": 'font-size="12" font-weight="bold" fill="#18181b"',
    "formula": 'font-size="12" fill="#18181b"',
    "sizes": 'font-size="12" fill="#18181b"',
    "small": 'font-size="10.5" fill="#52525b"',
    "warning": 'font-size="10.5" font-weight="bold" fill="#c62828"',
}


def trace_svg(trace: Trace) -> str:
    """The picture as an SVG document."""
    boxes = _boxes(trace)
    rows = _rows(boxes)
    width, height = _place(boxes, rows, len(trace.title) * 9.2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" {_FONT} role="img" aria-labelledby="title">',
        f'<title id="title">{escape(trace.title)}</title>',
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 1 L10 5 L0 9 z" fill="#52525b"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
        _text(width / 2, 32, 'font-size="15" font-weight="bold" fill="#18181b"', trace.title),
        _text(width / 2, 52, _STYLES["small"], _totals(trace)),
    ]
    for n in range(len(boxes)):
        parts += _arrows(boxes, rows, n)
    for b in boxes:
        parts += _drawn(b)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _totals(trace: Trace) -> str:
    found = [
        f"{word} {cost(trace, value)}"
        for word, value in (("parameters", trace.parameters), ("multiply-adds", trace.multiply_adds))
        if value != 0
    ]
    return "; ".join(found)


def _boxes(trace: Trace) -> list[_Box]:
    made: dict[str, int] = {}
    boxes: list[_Box] = []
    for n, line in enumerate(trace.lines):
        texts = [(line.operation, "head"), (line.formula, "formula"), (sizes(trace, line.result.axes), "sizes")]
        if trace.is_concrete:
            texts.append((symbols(line.result.axes), "small"))
        if scalar(trace, line):
            texts.insert(2, (scalar(trace, line), "small"))
        if line.parameters != 0:
            texts.append((f"parameters {cost(trace, line.parameters)}", "small"))
        if line.warnings:
            texts.append(
                ("right shape, wrong value" if "wrong value" in line.warnings[0] else "see the warning", "warning")
            )
        sources = list(dict.fromkeys(made[o.label] for o in line.inputs if o.label in made and made[o.label] != n))
        boxes.append(_Box(line, texts, sources))
        made[line.result.label] = n
    return boxes


def _rows(boxes: list[_Box]) -> list[list[int]]:
    for b in boxes:
        b.row = 1 + max((boxes[s].row for s in b.sources), default=-1)
    for n in reversed(range(len(boxes))):  # what has no operand goes down to the row above its first use
        users = [b.row for b in boxes if n in b.sources]
        movable = not any(boxes[s].row for s in boxes[n].sources) and len(users) == 1
        if movable and (not boxes[n].sources or len([b for b in boxes if boxes[n].sources[0] in b.sources]) == 1):
            boxes[n].row = max(boxes[n].row, users[0] - 1)
    last = max(b.row for b in boxes)
    return [[n for n, b in enumerate(boxes) if b.row == r] for r in range(last + 1)]


def _place(boxes: list[_Box], rows: list[list[int]], title: float) -> tuple[float, float]:
    for b in boxes:
        widest = max(
            len(t) * (_SMALL if style in ("small", "warning") else _LETTER + (style == "head")) for t, style in b.texts
        )
        b.width = round(widest + 2 * _PADDING)
        b.height = len(b.texts) * _LINE + 14
    together = max(b.width for b in boxes)
    pitch = together + _GAP_X
    span = max(pitch * max(map(len, rows)), title, len("multiply-adds") * 12) + 2 * _MARGIN
    y = float(_HEAD)
    for row in rows:
        tallest = max(boxes[n].height for n in row)
        # In a row of several the boxes keep the order of what they come from.
        ordered = sorted(
            row,
            key=lambda n: (
                sum(boxes[s].x for s in boxes[n].sources) / len(boxes[n].sources) if boxes[n].sources else span,
                n,
            ),
        )
        for k, n in enumerate(ordered):
            boxes[n].width = together
            boxes[n].x = round(span / 2 + (k - (len(row) - 1) / 2) * pitch)
            boxes[n].y = y
        y += tallest + _GAP_Y
    return round(span), round(y - _GAP_Y + _MARGIN)


def _arrows(boxes: list[_Box], rows: list[list[int]], n: int) -> list[str]:
    b = boxes[n]
    found = []
    ordered = sorted(b.sources, key=lambda s: (boxes[s].x, s))
    for k, s in enumerate(ordered):
        a = boxes[s]
        port = b.x + (k - (len(ordered) - 1) / 2) * min(60, b.width / (len(ordered) + 1))
        x0, y0, y1 = a.x, a.y + a.height, b.y - 2
        gap = b.y - _GAP_Y
        # Straight down beside the rows in between, then a bend in the gap above the box.
        lane = x0
        if b.row - a.row > 1:
            lane = _lane(boxes, rows, a, b)
        bend = f"M{x0:g} {y0:g} "
        if lane != x0:
            bend += f"C{x0:g} {y0 + _GAP_Y / 2:g} {lane:g} {y0 + _GAP_Y / 2:g} {lane:g} {y0 + _GAP_Y:g} "
        bend += f"L{lane:g} {gap:g} C{lane:g} {gap + _GAP_Y / 2:g} {port:g} {gap + _GAP_Y / 2:g} {port:g} {y1:g}"
        found.append(f'<path d="{bend}" fill="none" stroke="#71717a" stroke-width="1.3" marker-end="url(#arrow)"/>')
    return found


def _lane(boxes: list[_Box], rows: list[list[int]], a: _Box, b: _Box) -> float:
    """A place beside all boxes of the rows between, as near to the source as there is one."""
    between = [boxes[m] for r in range(a.row + 1, b.row) for m in rows[r]]
    blocked = [(m.x - m.width / 2 - 10, m.x + m.width / 2 + 10) for m in between]
    wanted = [a.x, *(edge for span in blocked for edge in span)]
    free = [x for x in wanted if not any(low < x < high for low, high in blocked)]
    return min(free, key=lambda x: (abs(x - a.x), x)) if free else a.x


def _drawn(b: _Box) -> list[str]:
    fill, border = _WRONG if b.line.warnings else _COLOURS.get(b.line.operation, _PLAIN)
    left = b.x - b.width / 2
    found = [
        f'<rect x="{left:g}" y="{b.y:g}" width="{b.width:g}" height="{b.height:g}" rx="6" fill="{fill}" '
        f'stroke="{border}" stroke-width="1.2"/>'
    ]
    for k, (text, style) in enumerate(b.texts):
        found.append(_text(b.x, b.y + 20 + k * _LINE, _STYLES[style], text))
    return found


def _text(x: float, y: float, style: str, text: str) -> str:
    """One centred line of text."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" {style}>{escape(text)}</text>'
