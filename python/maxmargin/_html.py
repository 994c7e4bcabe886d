"""Small pieces of HTML, for notebooks. They have no scripts and no styles but their own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

#: The size of a picture of curves, and the room around it for its numbers.
WIDTH, HEIGHT, ROOM = 420, 180, 44

#: Colours that can be told apart with any kind of sight.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

Curve = tuple[str, Iterable[float], Iterable[float]]


def facts(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A table with a title, of names and what they stand for.

    >>> facts("A & B", [("x", "1")])
    '<table><caption>A &amp; B</caption><tr><th>x</th><td>1</td></tr></table>'
    """
    body = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in rows)
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a title and a row of names at its head.

    >>> table("t", ["a"], [["1"], ["2"]])
    '<table><caption>t</caption><tr><th>a</th></tr><tr><td>1</td></tr><tr><td>2</td></tr></table>'
    """

    def row(cells: Sequence[str], kind: str) -> str:
        inner = "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells)
        return f"<tr>{inner}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><caption>{escape(title)}</caption>{row(head, 'th')}{body}</table>"


def curves(title: str, x: str, found: Sequence[Curve]) -> str:
    """A picture of falling numbers, by their logarithm; nothing if there is not a single one above 0."""
    kept = [(name, _positive(xs, ys)) for name, xs, ys in found]
    points = [point for _, own in kept for point in own]
    if not points:
        return ""
    left, right = (pick(a for a, _ in points) for pick in (min, max))
    low, high = (pick(math.log10(b) for _, b in points) for pick in (min, max))

    def place(a: float, b: float) -> str:
        across = (a - left) / ((right - left) or 1.0)
        up = (math.log10(b) - low) / ((high - low) or 1.0)
        return f"{ROOM + across * (WIDTH - 2 * ROOM):.1f},{HEIGHT - ROOM - up * (HEIGHT - 2 * ROOM):.1f}"

    parts = []
    for at, (name, own) in enumerate(kept):
        colour = COLOURS[at % len(COLOURS)]
        line = " ".join(place(a, b) for a, b in own)
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{line}">'
            f"<title>{escape(name)}</title></polyline>"
        )
        if len(kept) > 1:
            parts.append(_text(WIDTH - ROOM + 4, ROOM + 14 * at, name, colour))
    parts += [
        _text(4, ROOM, f"{10**high:.3g}"),
        _text(4, HEIGHT - ROOM, f"{10**low:.3g}"),
        _text(ROOM, HEIGHT - 24, f"{left:.3g}"),
        _text(WIDTH - ROOM - 24, HEIGHT - 24, f"{right:.3g}"),
        _text(WIDTH / 2 - 40, HEIGHT - 6, x),
        _text(ROOM, 16, title),
    ]
    wide = WIDTH + (120 if len(kept) > 1 else 0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def _positive(xs: Iterable[float], ys: Iterable[float]) -> list[tuple[float, float]]:
    """The points that a logarithm can show."""
    pairs = zip(map(float, xs), map(float, ys), strict=True)
    return [(a, b) for a, b in pairs if math.isfinite(a) and math.isfinite(b) and b > 0]


def _text(x: float, y: float, text: str, colour: str = "currentColor") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="11" fill="{colour}">{escape(text)}</text>'


def page_inline(page: str, height: int = 600) -> str:
    """A whole page within another."""
    return (
        f'<iframe srcdoc="{escape(page)}" width="100%" height="{height}" '
        'style="border: 1px solid #ccc" sandbox="allow-scripts"></iframe>'
    )
