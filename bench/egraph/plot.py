# SPDX-License-Identifier: MIT
"""A plot with logarithmic axes as SVG, written by hand: no package needed."""
import math

WIDTH, HEIGHT = 720, 480
LEFT, RIGHT, TOP, BOTTOM = 80, 30, 50, 60
COLOURS = ("#1b6ca8", "#c1432e", "#3a7d44", "#8a5aa8", "#b8860b", "#555555")


def escaped(text):
    return (str(text).replace("&", "&amp;").replace("<", "&lt;")
            .replace(">", "&gt;"))


def decades(values):
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def power(exponent):
    return f"10<tspan dy='-6' font-size='9'>{exponent}</tspan>"


class Axes:
    def __init__(self, xs, ys):
        self.x0, self.x1 = decades(xs)
        self.y0, self.y1 = decades(ys)

    def x(self, value):
        at = (math.log10(value) - self.x0) / (self.x1 - self.x0)
        return LEFT + at * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        at = (math.log10(value) - self.y0) / (self.y1 - self.y0)
        return HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM)

    def grid(self):
        top, low, end = TOP, HEIGHT - BOTTOM, WIDTH - RIGHT
        for e in range(self.x0, self.x1 + 1):
            x = self.x(10.0 ** e)
            yield (f"<path d='M{x:.1f} {top}V{low}' stroke='#ddd'/>"
                   f"<text x='{x:.1f}' y='{low + 20}' text-anchor='middle'>"
                   f"{power(e)}</text>")
        for e in range(self.y0, self.y1 + 1):
            y = self.y(10.0 ** e)
            yield (f"<path d='M{LEFT} {y:.1f}H{end}' stroke='#ddd'/>"
                   f"<text x='{LEFT - 10}' y='{y + 4:.1f}' "
                   f"text-anchor='end'>{power(e)}</text>")

    def slope_one(self, x, y):
        """The line through (x, y) along which y grows as x does."""
        low = max(10.0 ** self.x0, x * 10.0 ** self.y0 / y)
        high = min(10.0 ** self.x1, x * 10.0 ** self.y1 / y)
        return (f"<path d='M{self.x(low):.1f} {self.y(low * y / x):.1f}"
                f"L{self.x(high):.1f} {self.y(high * y / x):.1f}' "
                f"stroke='#999' stroke-dasharray='5 4'/>")


def log_log(title, note, xlabel, ylabel, series):
    """series: [(name, [(x, y), ...])], all positive; linear growth dashed."""
    xs = [x for _, points in series for x, _ in points]
    ys = [y for _, points in series for _, y in points]
    axes = Axes(xs, ys)
    middle = series[0][1][len(series[0][1]) // 2]
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' "
           f"height='{HEIGHT}' viewBox='0 0 {WIDTH} {HEIGHT}' fill='none' "
           f"font-family='sans-serif' font-size='12'>",
           f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
           "<g fill='#222'>", *axes.grid(),
           f"<text x='{LEFT}' y='22' font-size='15'>{escaped(title)}</text>",
           f"<text x='{LEFT}' y='39' font-size='10' fill='#666'>"
           f"{escaped(note)}</text>",
           f"<text x='{(LEFT + WIDTH - RIGHT) / 2}' y='{HEIGHT - 14}' "
           f"text-anchor='middle'>{escaped(xlabel)}</text>",
           f"<text transform='translate(20 {(TOP + HEIGHT - BOTTOM) / 2}) "
           f"rotate(-90)' text-anchor='middle'>{escaped(ylabel)}</text>",
           "</g>", axes.slope_one(*middle)]
    for i, (name, points) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        path = "L".join(f"{axes.x(x):.1f} {axes.y(y):.1f}" for x, y in points)
        out.append(f"<path d='M{path}' stroke='{colour}' stroke-width='2'/>")
        out += [f"<circle cx='{axes.x(x):.1f}' cy='{axes.y(y):.1f}' r='3' "
                f"fill='{colour}'/>" for x, y in points]
        out.append(f"<text x='{LEFT + 14}' y='{TOP + 18 + 16 * i}' "
                   f"fill='{colour}'>{escaped(name)}</text>")
    return "\n".join([*out, "</svg>", ""])
