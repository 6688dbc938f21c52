"""Line charts as SVG: no library, the same bytes for the same numbers."""

import math
from xml.sax.saxutils import escape

COLOURS = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#34495e", "#16a085", "#7f8c8d"]
WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 44, 56


def ticks(top, count=5):
    """About `count` round numbers from 0 to at least `top`."""
    if top <= 0:
        return [0.0, 1.0]
    for exponent in range(-12, 13):
        for factor in (1, 2, 5):
            step = factor * 10.0**exponent
            if step * count >= top:
                most = math.ceil(top / step - 1e-9)
                return [round(i * step, 12) for i in range(most + 1)]
    raise ValueError(f"{top} is too large for an axis")


def number(x):
    """A number as short as it is."""
    return f"{x:.10g}"


def chart(title, x_label, y_label, lines, x_top=None, y_top=None):
    """An SVG of `lines`: a list of (name, [(x, y)]), from 0 on both axes."""
    points = [point for _, line in lines for point in line]
    x_ticks = ticks(x_top or max(x for x, _ in points))
    y_ticks = ticks(y_top or max(y for _, y in points))
    x_end, y_end = x_ticks[-1], y_ticks[-1]
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(x, y):
        return f"{LEFT + wide * x / x_end:.2f},{TOP + high * (1 - y / y_end):.2f}"

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="26" font-size="16">{escape(title)}</text>',
    ]
    for y in y_ticks:
        place = at(0, y).split(",")[1]
        out.append(
            f'<path d="M{LEFT},{place}H{LEFT + wide}" stroke="#ddd"/>'
            f'<text x="{LEFT - 8}" y="{float(place) + 4:.2f}" text-anchor="end">{number(y)}</text>'
        )
    for x in x_ticks:
        place = at(x, 0).split(",")[0]
        out.append(
            f'<path d="M{place},{TOP}V{TOP + high}" stroke="#eee"/>'
            f'<text x="{place}" y="{TOP + high + 20}" text-anchor="middle">{number(x)}</text>'
        )
    out.append(f'<path d="M{LEFT},{TOP}V{TOP + high}H{LEFT + wide}" fill="none" stroke="#333"/>')
    middle = LEFT + wide / 2
    out.append(
        f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">{escape(x_label)}</text>'
    )
    turn = f"rotate(-90 18 {TOP + high / 2})"
    out.append(
        f'<text x="18" y="{TOP + high / 2}" text-anchor="middle" transform="{turn}">'
        f"{escape(y_label)}</text>"
    )
    for index, (name, line) in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        path = " ".join(at(x, y) for x, y in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y in line if len(line) < 30 else []:
            cx, cy = at(x, y).split(",")
            out.append(f'<circle cx="{cx}" cy="{cy}" r="3" fill="{colour}"/>')
        y = TOP + 10 + 20 * index
        x = LEFT + wide + 14
        out.append(
            f'<path d="M{x},{y}h20" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{x + 26}" y="{y + 4}">{escape(name)}</text>'
        )
    out.append("</svg>")
    return "\n".join(out) + "\n"
