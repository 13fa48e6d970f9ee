# SPDX-License-Identifier: MIT
"""A roofline plot as SVG: operations a second over operations a byte.

The x axis counts each array once: what a perfect cache would move.  A roof is
drawn for each number of threads, from the measured multiply-add peak and memory
bandwidth.
"""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 40, 60
COLOURS = ["#c02020", "#707070", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e",
           "#8c564b", "#17becf", "#e377c2", "#bcbd22"]


class Axes:
    """Logarithmic in both directions; whole powers of ten at the ends."""

    def __init__(self, xs, ys):
        self.x = (math.floor(math.log10(min(xs))),
                  math.ceil(math.log10(max(xs))))
        self.y = (math.floor(math.log10(min(ys))),
                  math.ceil(math.log10(max(ys))))

    def place(self, value, ends, low, high):
        span = max(ends[1] - ends[0], 1)
        return low + (math.log10(value) - ends[0]) / span * (high - low)

    def px(self, value):
        return self.place(value, self.x, LEFT, WIDTH - RIGHT)

    def py(self, value):
        return self.place(value, self.y, HEIGHT - BOTTOM, TOP)


def line(x1, y1, x2, y2, style):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
            f'y2="{y2:.1f}" {style}/>')


def label(x, y, text, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'


def grid(axes):
    out = []
    faint = 'stroke="#dddddd"'
    for e in range(axes.x[0], axes.x[1] + 1):
        x = axes.px(10.0 ** e)
        out += [line(x, TOP, x, HEIGHT - BOTTOM, faint),
                label(x, HEIGHT - BOTTOM + 18, f"{10.0 ** e:g}",
                      'text-anchor="middle"')]
    for e in range(axes.y[0], axes.y[1] + 1):
        y = axes.py(10.0 ** e)
        out += [line(LEFT, y, WIDTH - RIGHT, y, faint),
                label(LEFT - 6, y + 4, f"{10.0 ** e:g}", 'text-anchor="end"')]
    out += [label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16,
                  "operations a byte (each array moved once)",
                  'text-anchor="middle"'),
            label(18, (TOP + HEIGHT - BOTTOM) / 2, "GFLOP/s",
                  'text-anchor="middle" transform="rotate(-90 18 '
                  f'{(TOP + HEIGHT - BOTTOM) / 2:.0f})"')]
    return out


def roof(axes, threads, flops, bandwidth):
    """The slanted part up to the ridge, then the flat one."""
    low, high = 10.0 ** axes.x[0], 10.0 ** axes.x[1]
    bottom = 10.0 ** axes.y[0]
    ridge = min(max(flops / bandwidth, low), high)
    start = max(low, bottom / bandwidth)
    style = 'stroke="black" stroke-width="1.5"' + (
        ' stroke-dasharray="6 3"' if threads > 1 else "")
    out = [line(axes.px(ridge), axes.py(flops), axes.px(high),
                axes.py(flops), style),
           label(axes.px(high) - 4, axes.py(flops) - 5,
                 f"{threads} thread{'s' if threads > 1 else ''}",
                 'text-anchor="end"')]
    if start < ridge:
        out.append(line(axes.px(start), axes.py(start * bandwidth),
                        axes.px(ridge), axes.py(ridge * bandwidth), style))
    return out


def mark(x, y, colour, threads, title):
    """A disc for one thread, a ring for more."""
    fill = f'fill="{colour}"' if threads == 1 else \
        f'fill="white" stroke="{colour}" stroke-width="2"'
    return (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {fill}>'
            f"<title>{escape(title)}</title></circle>")


def svg(results, roofs, peers):
    """roofs: threads -> (GFLOP/s, GB/s)."""
    points = [(r["flops"] / r["bytes"], r["flops"] / s * 1e-9, peer,
               r["threads"], r["problem"])
              for r in results for peer, s in r["seconds"].items()
              if r["flops"]]
    if not points:
        return ""
    axes = Axes([p[0] for p in points],
                [p[1] for p in points] + [f for f, _ in roofs.values()])
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
           f'height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    out += grid(axes)
    for threads, (flops, bandwidth) in roofs.items():
        out += roof(axes, int(threads), flops, bandwidth)
    colours = {p: COLOURS[k % len(COLOURS)] for k, p in enumerate(peers)}
    # Ours lies on top.
    for x, y, peer, threads, name in sorted(
            points, key=lambda p: -peers.index(p[2])):
        out.append(mark(axes.px(x), axes.py(y), colours[peer], threads,
                        f"{name}, {peer}, {threads}: {y:.3g} GFLOP/s"))
    for k, peer in enumerate(peers):
        y = TOP + 10 + 18 * k
        out += [mark(WIDTH - RIGHT + 20, y, colours[peer], 1, peer),
                label(WIDTH - RIGHT + 32, y + 4, peer)]
    out.append("</svg>")
    return "\n".join(out) + "\n"
