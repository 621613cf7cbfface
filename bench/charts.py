"""Lines over a logarithmic scale as an SVG file, so that growth can be seen beside a table, and
bars of ratios.

Enters: named series of points, or named ratios. Leaves: SVG text, readable on a white page. Must
not measure anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 60, 150, 20, 45
BAR_NAMES, BAR_WIDTH, BAR_HEIGHT = 380, 300, 18
COLOURS = ("#1f77b4", "#d62728", "#7f7f7f", "#2ca02c")

Points = Sequence[tuple[float, float]]


def chart(title: str, x_name: str, y_name: str, series: Mapping[str, Points], ticks: Mapping[float, str]) -> str:
    """Return a chart of y over x, y from zero. ticks: the places on the x axis that are named.

    All x lie between the first and the last.

    x is shown by its logarithm, except where it begins with zero.
    """
    places = list(ticks)
    logarithmic = places[0] > 0
    first, last = (_scaled(place, logarithmic) for place in (places[0], places[-1]))
    top = _rounded_up(max(y for points in series.values() for _, y in points))

    def at(x: float, y: float) -> tuple[float, float]:
        share = (_scaled(x, logarithmic) - first) / ((last - first) or 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(LEFT, TOP - 6, y_name, "start"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_name, "middle"),
    ]
    for part in range(5):
        x, y = at(places[0], top * part / 4)
        lines.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{"#444" if part == 0 else "#ddd"}"/>'
        )
        lines.append(_text(x - 6, y + 4, f"{top * part / 4:g}", "end"))
    lines += [_text(at(place, 0)[0], HEIGHT - BOTTOM + 16, name, "middle") for place, name in ticks.items()]
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in points))
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in (at(*point) for point in points)
        ]
        height = TOP + 14 + 20 * number
        lines.append(
            f'<line x1="{WIDTH - RIGHT + 12}" y1="{height}" x2="{WIDTH - RIGHT + 32}" y2="{height}" stroke="{colour}" stroke-width="2"/>'
        )
        lines.append(_text(WIDTH - RIGHT + 38, height + 4, name, "start"))
    return "\n".join([*lines, "</svg>", ""])


def bars(title: str, ratios: Mapping[str, float]) -> str:
    """Return a bar for each ratio, to the right of 1 where it is more, to the left where it is
    less, by its logarithm.
    """
    widest = max((abs(math.log2(ratio)) for ratio in ratios.values()), default=0.0) or 1.0
    middle = BAR_NAMES + BAR_WIDTH / 2
    width, height = BAR_NAMES + BAR_WIDTH + 2 * BAR_HEIGHT, (len(ratios) + 2) * BAR_HEIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        _text(middle, BAR_HEIGHT - 6, title, "middle"),
    ]
    for number, (name, ratio) in enumerate(ratios.items(), 1):
        y, length = number * BAR_HEIGHT, abs(math.log2(ratio)) / widest * (BAR_WIDTH / 2 - 2 * BAR_HEIGHT)
        x, colour = (middle, COLOURS[0]) if ratio >= 1 else (middle - length, COLOURS[1])
        lines.append(
            f'<rect x="{x:.1f}" y="{y + 3}" width="{length:.1f}" height="{BAR_HEIGHT - 6}" fill="{colour}" class="bar"/>'
        )
        lines.append(_text(BAR_NAMES - 6, y + 13, name, "end"))
        end, anchor = (x + length + 4, "start") if ratio >= 1 else (x - 4, "end")
        lines.append(_text(end, y + 13, f"{ratio:.2f}", anchor))
    lines.append(f'<line x1="{middle}" y1="{BAR_HEIGHT}" x2="{middle}" y2="{height - BAR_HEIGHT}" stroke="#444"/>')
    return "\n".join([*lines, "</svg>", ""])


def _scaled(value: float, logarithmic: bool) -> float:
    return math.log2(value) if logarithmic else value


def _rounded_up(value: float) -> float:
    """Return the next larger of 1, 2, 4 or 8 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * factor for factor in (1, 2, 4, 8, 10) if power * factor >= value)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#222">{text}</text>'
