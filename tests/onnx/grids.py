# SPDX-License-Identifier: MIT
"""Models of images that are read at the places of a grid; see cases.py."""
import math

import nd
from cases import add, x
from nd import A


def index_of(i, size, padding, corners):
    """The pixel that stands for pixel i, or None for zeros."""
    if padding == "zeros":
        return i if 0 <= i < size else None
    if padding == "border":
        return min(max(i, 0), size - 1)
    while not 0 <= i < size:
        if size == 1:
            return 0
        ends = (0, size - 1) if corners else (-0.5, size - 0.5)
        i = int(2 * (ends[0] if i < 0 else ends[1]) - i)
    return i


def taps(place, size, mode, corners):
    """Pixels and their weights."""
    at = (place + 1) / 2 * (size - 1) if corners else \
        ((place + 1) * size - 1) / 2
    if mode == "nearest":
        return [(round(at), 1.0)]
    low = math.floor(at)
    return [(low, 1 - (at - low)), (low + 1, at - low)]


def sample(image, grid, mode="linear", padding="zeros", corners=0):
    n, c, h, w = image.shape
    _, rows, columns, _ = grid.shape

    def value(i):
        places = [nd.at(grid, (i[0], i[2], i[3], k)) for k in (1, 0)]
        total = 0.0
        for row, by_row in taps(places[0], h, mode, corners):
            for column, by_column in taps(places[1], w, mode, corners):
                at = (index_of(row, h, padding, corners),
                      index_of(column, w, padding, corners))
                if None not in at:
                    total += by_row * by_column * nd.at(image, (*i[:2], *at))
        return total
    return nd.build((n, c, rows, columns), value)


def grids():
    image, grid = x(2, 3, 4, 5), x(2, 3, 2, 2)
    add("GridSample", [image, grid], sample(image, grid), opset=20)
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (0, 1):
                add("GridSample", [image, grid],
                    sample(image, grid, mode, padding, corners), mode=mode,
                    padding_mode=padding, align_corners=corners)
    far, line = A((1, 2, 1, 2), [-7.5, 9.25, 30.0, -0.5]), x(1, 1, 1, 3)
    for corners in (0, 1):
        add("GridSample", [line, far],
            sample(line, far, "bilinear", "reflection", corners),
            padding_mode="reflection", align_corners=corners)


grids()
