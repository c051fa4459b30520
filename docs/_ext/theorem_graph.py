"""The graph of theorems as an SVG whose nodes are links: what is used stands on the left of what uses it.

Drawn in layers, each connected group by itself and the largest first; the same input gives the same bytes. Colours come
from the page's stylesheet, so that it is readable on a light and on a dark page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

Facts = dict[str, Any]
_LETTER = 6.7
_HEIGHT, _ROW, _GAP, _GROUP, _MARGIN = 24, 34, 48, 26, 8


def graph_page(rows: Mapping[str, Facts]) -> Any:
    """The page of the graph."""
    from theorem_pages import Page

    uses = {name: [u for u in row["uses"] if u in rows] for name, row in rows.items()}
    connected = [n for n in rows if uses[n] or any(n in used for used in uses.values())]
    edges = sum(map(len, uses.values()))
    out = ["# Graph of theorems", "",
           "An arrow leads from a theorem to one whose proof cites it: "
           f"{edges} citations among {len(connected)} theorems. "
           f"The other {len(rows) - len(connected)} neither cite nor are cited; they stand in the [index](index.md). "
           "Each name leads to its page.", ""]
    if connected:
        drawn = svg(rows, uses, connected)
        out += ["```{raw} html", f'<div class="theorem-graph" tabindex="0">\n{drawn}\n</div>', "```", ""]
    return Page("graph", "\n".join(out))


def svg(rows: Mapping[str, Facts], uses: Mapping[str, Sequence[str]], names: Sequence[str]) -> str:
    """The drawing of the named theorems."""
    places: dict[str, tuple[float, float, float]] = {}  # left, top, width
    top, right = float(_MARGIN), 0.0
    for group in _groups(names, uses):
        layers = _ordered(_layers(group, uses), uses)
        left = float(_MARGIN)
        height = max(map(len, layers)) * _ROW
        for layer in layers:
            width = max(len(n) for n in layer) * _LETTER + 20
            offset = (height - len(layer) * _ROW) / 2
            for n, name in enumerate(layer):
                places[name] = (left, top + offset + n * _ROW, width)
            left += width + _GAP
        right = max(right, left - _GAP)
        top += height + _GROUP
    width, height = right + _MARGIN, top - _GROUP + _MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
           f'height="{height:.0f}" role="group" aria-label="Graph of theorems">']
    for name in places:
        for used in uses[name]:
            x, y, w = places[used]
            to_x, to_y, _ = places[name]
            from_x, from_y, to_y = x + w, y + _HEIGHT / 2, to_y + _HEIGHT / 2
            bend = (from_x + to_x) / 2
            ends = (f"{from_x:.0f} {from_y:.0f}", f"{to_x - 6:.0f} {to_y:.0f}")
            curve = f"M{ends[0]}C{bend:.0f} {from_y:.0f} {bend:.0f} {to_y:.0f} {ends[1]}"
            out.append(f'<path d="{curve}"/><path class="tip" d="M{to_x:.0f} {to_y:.0f}l-7 -4v8z"/>')
    for name, (x, y, w) in places.items():
        title = escape(f"{rows[name]['title']} ({rows[name]['topic']})")
        out.append(f'<a href="{name}.html" aria-label="{title}"><title>{title}</title>'
                   f'<rect x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{_HEIGHT}" rx="4"/>'
                   f'<text x="{x + 10:.0f}" y="{y + 16:.0f}">{escape(name)}</text></a>')
    return "\n".join([*out, "</svg>"])


def _groups(names: Sequence[str], uses: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Connected groups in the order of the names, the largest first."""
    near: dict[str, list[str]] = {n: list(uses[n]) for n in names}
    for name in names:
        for used in uses[name]:
            near[used].append(name)
    groups: list[list[str]] = []
    seen: set[str] = set()
    for name in names:
        if name in seen:
            continue
        reached, front = {name}, [name]
        while front:
            front = list(dict.fromkeys(n for m in front for n in near[m] if n not in reached))
            reached.update(front)
        seen |= reached
        groups.append([n for n in names if n in reached])
    return sorted(groups, key=len, reverse=True)


def _layers(group: Sequence[str], uses: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """By the longest chain of citations below; a theorem that cites nothing stands next to what cites it."""
    depth: dict[str, int] = {}

    def below(name: str) -> int:
        if name not in depth:
            depth[name] = max((below(u) + 1 for u in uses[name]), default=0)
        return depth[name]

    for name in group:
        below(name)
    for name in group:
        above = [depth[n] for n in group if name in uses[n]]
        if not uses[name] and above:
            depth[name] = min(above) - 1
    return [[n for n in group if depth[n] == d] for d in sorted(set(depth.values()))]


def _ordered(layers: list[list[str]], uses: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Each layer by the mean place of its neighbours, a few times to and fro, so that few arrows cross."""
    used_by = {n: [m for layer in layers for m in layer if n in uses[m]] for layer in layers for n in layer}
    for sweep in range(8):
        place = {n: (i + 0.5) / len(layer) for layer in layers for i, n in enumerate(layer)}
        near = uses if sweep % 2 == 0 else used_by
        mean = {n: sum(place[m] for m in near[n]) / len(near[n]) if near[n] else place[n] for n in place}
        layers = [sorted(layer, key=mean.__getitem__) for layer in layers]
    return layers
