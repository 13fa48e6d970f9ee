#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmarked programs as `.glen` text, for any sizes.

usage: programs.py NAME [SIZE=N...]   print a program
       programs.py --list             names and sizes
       programs.py --write GLEN       write the small ones to examples/, formatted
       programs.py --check GLEN       is examples/ what --write would write?

A program is a function from sizes to text; its docstring is the comment at
the head of the file.  The sizes of `examples/` are the defaults.
"""
import collections
import inspect
import os
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
Program = collections.namedtuple("Program", "make folder sizes")
PROGRAMS = {}


def program(folder):
    """Registers a function as a program, under its name with hyphens."""
    def register(make):
        sizes = {name: p.default
                 for name, p in inspect.signature(make).parameters.items()}
        name = make.__name__.replace("_", "-").removeprefix("k-")
        PROGRAMS[name] = Program(make, folder, sizes)
        return make
    return register


def text(name, **sizes):
    """The whole file."""
    make = PROGRAMS[name].make
    head = textwrap.dedent("   " + inspect.getdoc(make)).strip()
    comment = "".join(f"; {line}".rstrip() + "\n"
                      for line in head.splitlines())
    return comment + textwrap.dedent(make(**sizes)).strip() + "\n"


# ---- image pipelines ----


@program("pipelines")
def blur(H=30, W=44):
    """The mean of 3x3 pixels, first along the rows, then down the columns."""
    return f"""
        (tensor image (shape {H + 2} {W + 2}) f32)
        (let across                             ; (({H + 2}, {W}), ())
          (compute (scale 0.3333333333)
            (compute reduceSum
              (windows (access image 0) (shape 1 3) (stride 1 1)))))
        (let blurred
          (compute (scale 0.3333333333)         ; (({H}, {W}), ())
            (compute reduceSum
              (windows (access across 0) (shape 3 1) (stride 1 1)))))
        (output blurred)
        """


@program("pipelines")
def harris(H=36, W=48):
    """Harris corners of a colour image.

    Brightness, its slopes by Sobel's masks, their products summed over 3x3
    pixels, and of those the determinant less a part of the trace squared."""
    return f"""
        (tensor image (shape 3 {H} {W}) f32)
        (const luma (shape 3) f32 0.299 0.587 0.114)
        (const sobel-x (shape 3 3) f32
          -0.0833333333 0 0.0833333333
          -0.1666666667 0 0.1666666667
          -0.0833333333 0 0.0833333333)
        (const sobel-y (shape 3 3) f32
          -0.0833333333 -0.1666666667 -0.0833333333
          0 0 0
          0.0833333333 0.1666666667 0.0833333333)
        (let gray                               ; (({H}, {W}), ())
          (compute dotProd
            (cartProd (access (transpose image (list 1 2 0)) 2)
                      (access luma 0))))
        (let patches                            ; (({H - 2}, {W - 2}), (3, 3))
          (windows (access gray 0) (shape 3 3) (stride 1 1)))
        (let ix (compute dotProd (cartProd patches (access sobel-x 0))))
        (let iy (compute dotProd (cartProd patches (access sobel-y 0))))
        (let ixx (compute square ix))
        (let iyy (compute square iy))
        (let ixy (compute mul (pair ix iy)))
        (let sxx                                ; (({H - 4}, {W - 4}), ())
          (compute reduceSum (windows (access ixx 0) (shape 3 3) (stride 1 1))))
        (let syy
          (compute reduceSum (windows (access iyy 0) (shape 3 3) (stride 1 1))))
        (let sxy
          (compute reduceSum (windows (access ixy 0) (shape 3 3) (stride 1 1))))
        (let determinant
          (compute sub (pair (compute mul (pair sxx syy)) (compute square sxy))))
        (let trace (compute add (pair sxx syy)))
        (let corners
          (compute sub
            (pair determinant (compute (scale 0.04) (compute square trace)))))
        (output corners)
        """


@program("pipelines")
def unsharp(H=24, W=40):
    """A colour image sharpened by its brightness.

    sharpened = image * (2 * gray - blurred) / gray, where blurred is gray
    under a Gaussian of 7x7 pixels (sigma 1.5), column by column, row by row;
    the image goes on beyond its edges."""
    return f"""
        (tensor image (shape 3 {H} {W}) f32)
        (const luma (shape 3) f32 0.299 0.587 0.114)
        (const gauss (shape 7) f32
          0.0366328470 0.1112807576 0.2167453203 0.2706821495
          0.2167453203 0.1112807576 0.0366328470)
        (let gray                               ; (({H}, {W}), ())
          (compute dotProd
            (cartProd (access (transpose image (list 1 2 0)) 2)
                      (access luma 0))))
        (let down
          (compute dotProd
            (cartProd
              (windows (access (pad gray edge 0 3 3) 0) (shape 7 1) (stride 1 1))
              (reshape (access gauss 0) (shape) (shape 7 1)))))
        (let blurred
          (compute dotProd
            (cartProd
              (windows (access (pad down edge 1 3 3) 0) (shape 1 7) (stride 1 1))
              (reshape (access gauss 0) (shape) (shape 1 7)))))
        (let ratio
          (compute div
            (pair (compute sub (pair (compute (scale 2) gray) blurred)) gray)))
        (let sharpened
          (compute mul
            (pair image (broadcast (insertAxis ratio 0) (shape 3 {H} {W})))))
        (output sharpened)
        """


def reduced(name, of, first, taps, pad):
    """Two lets: `of` filtered and halved along dimensions first, first + 1.

    taps: the name of a constant; pad: (before, after) at the edges."""
    n = {"three": 3, "four": 4}[taps]
    before, after = pad
    return f"""
        (let {name}-y
          (compute dotProd
            (cartProd
              (windows (access (pad {of} edge {first} {before} {after}) {first})
                       (shape {n} 1) (stride 2 1))
              (reshape (access {taps} 0) (shape) (shape {n} 1)))))
        (let {name}
          (compute dotProd
            (cartProd
              (windows (access (pad {name}-y edge {first + 1} {before} {after}) {first})
                       (shape 1 {n}) (stride 1 2))
              (reshape (access {taps} 0) (shape) (shape 1 {n})))))
        """


def enlarged(name, of, first):
    """Two lets: `of` at twice its size, linear between the old pixels."""
    return f"""
        (let {name}-y
          (compute dotProd
            (cartProd
              (windows (access (pad (repeat {of} {first} 2) edge {first} 1 1) {first})
                       (shape 3 1) (stride 1 1))
              (reshape (access three 0) (shape) (shape 3 1)))))
        (let {name}
          (compute dotProd
            (cartProd
              (windows (access (pad (repeat {name}-y {first + 1} 2) edge {first + 1} 1 1) {first})
                       (shape 1 3) (stride 1 1))
              (reshape (access three 0) (shape) (shape 1 3)))))
        """


THREE = "(const three (shape 3) f32 0.25 0.5 0.25)"
FOUR = "(const four (shape 4) f32 0.125 0.375 0.375 0.125)"


def lines(*parts):
    return "\n".join(textwrap.dedent(part).strip() for part in parts)


@program("pipelines")
def pyramid_blend(H=32, W=48):
    """Two images blended through a mask, coarse and fine parts apart.

    Each image is split into its half-size version and what that lacks; both
    parts are mixed by the mask of their size and put together again."""
    def mixed(name, mask, a, b):
        return f"""
            (let {name}                         ; b + mask * (a - b)
              (compute add
                (pair {b} (compute mul (pair {mask} (compute sub (pair {a} {b})))))))
            """
    return lines(
        f"""
        (tensor left (shape {H} {W}) f32)
        (tensor right (shape {H} {W}) f32)
        (tensor mask (shape {H} {W}) f32)
        {THREE}
        {FOUR}
        """,
        "; half size", reduced("left-1", "left", 0, "four", (1, 1)),
        reduced("right-1", "right", 0, "four", (1, 1)),
        reduced("mask-1", "mask", 0, "four", (1, 1)),
        "; what it lacks", enlarged("left-up", "left-1", 0),
        enlarged("right-up", "right-1", 0),
        """
        (let left-0 (compute sub (pair left left-up)))
        (let right-0 (compute sub (pair right right-up)))
        """,
        "; mixed", mixed("mixed-1", "mask-1", "left-1", "right-1"),
        mixed("mixed-0", "mask", "left-0", "right-0"),
        "; together", enlarged("coarse", "mixed-1", 0),
        """
        (let blended (compute add (pair mixed-0 coarse)))
        (output blended)
        """)


@program("pipelines")
def interpolate(H=32, W=48, levels=3):
    """Missing pixels filled in from coarser and coarser versions of an image.

    The colours are weighted by alpha, the fourth plane, which says how much of
    a pixel is known; each level adds, where it knows little, what the next
    coarser one says."""
    parts = [f"""
        (tensor image (shape 4 {H} {W}) f32)
        {THREE}
        (let alpha (slice image 0 3 4))
        (let down-0                             ; ((4, {H}, {W}), ())
          (concat
            (compute mul
              (pair (slice image 0 0 3) (broadcast alpha (shape 3 {H} {W}))))
            alpha
            0))
        """]
    for k in range(1, levels):
        parts.append(f"; level {k}")
        parts.append(reduced(f"down-{k}", f"down-{k - 1}", 1, "three", (1, 1)))
    above = f"down-{levels - 1}"
    for k in range(levels - 2, -1, -1):
        parts.append(f"; back to level {k}")
        parts.append(enlarged(f"up-{k}", above, 1))
        parts.append(f"""
            (let unknown-{k}
              (compute (offset 1) (compute neg (slice down-{k} 0 3 4))))
            (let filled-{k}
              (compute add
                (pair down-{k}
                  (compute mul
                    (pair up-{k}
                      (broadcast unknown-{k} (shape 4 {H >> k} {W >> k})))))))
            """)
        above = f"filled-{k}"
    parts.append(f"""
        (let colours
          (compute div
            (pair (slice {above} 0 0 3)
              (broadcast (slice {above} 0 3 4) (shape 3 {H} {W})))))
        (output colours)
        """)
    return lines(*parts)


def cut(name, y, x, rows, columns):
    """Rows and columns of an image from these on."""
    return f"(slice (slice {name} 0 {y} {y + rows}) 1 {x} {x + columns})"


def mean_of(*terms):
    """Of two or four integers, rounded."""
    total = terms[0]
    for term in terms[1:]:
        total = f"(add {total} {term})"
    half, n = {2: ("one", "two"), 4: ("two", "four")}[len(terms)]
    return f"(div (add {total} {half}) {n})"


def mosaic(name, gr, red, blue, gb):
    """One image of the four pixels of each cell."""
    return f"""
        (let {name}-rows-0 (concat (insertAxis {gr} 2) (insertAxis {red} 2) 2))
        (let {name}-rows-1 (concat (insertAxis {blue} 2) (insertAxis {gb} 2) 2))
        (let {name}-cells (concat (insertAxis {name}-rows-0 1)
                            (insertAxis {name}-rows-1 1) 1))
        """


@program("pipelines")
def camera(H=14, W=22):
    """A camera's raw image, developed: 10 bits a pixel in, 8 bits a channel out.

    Pixels brighter than all neighbours of their colour are hot, and held to
    these. The mosaic (green and red, then blue and green) is taken apart, missing
    colours are means of neighbours, a matrix corrects colours, a table the
    tones, and what a blur takes away is added once more."""
    rows, columns = (H + 2) // 2, (W + 2) // 2  # cells whose colours are known
    h, w = rows + 2, columns + 2                # cells
    planes = {"gr": (0, 0), "red": (0, 1), "blue": (1, 0), "gb": (1, 1)}

    def of(plane, y=0, x=0):
        return cut(plane, 1 + y, 1 + x, rows, columns)

    parts = [f"""
        (tensor raw (shape {2 * h + 4} {2 * w + 4}) u16)
        (tensor curve (shape 1024) u16)
        (const one (shape) i32 1)
        (const two (shape) i32 2)
        (const four (shape) i32 4)
        ; hot pixels
        (let quiet
          (min {cut("raw", 2, 2, 2 * h, 2 * w)}
            (max
              (max {cut("raw", 0, 2, 2 * h, 2 * w)}
                {cut("raw", 4, 2, 2 * h, 2 * w)})
              (max {cut("raw", 2, 0, 2 * h, 2 * w)}
                {cut("raw", 2, 4, 2 * h, 2 * w)}))))
        ; the mosaic, taken apart
        """]
    for name, (y, x) in planes.items():
        parts.append(f"""
        (let {name}
          (compute (cast i32)
            (compute reduceMax
              (windows
                (access {cut("quiet", y, x, 2 * h - y, 2 * w - x)} 0)
                (shape 1 1) (stride 2 2)))))
        """)
    known = {
        "red": (mean_of(of("red", 0, -1), of("red")), of("red"),
                mean_of(of("red", 0, -1), of("red"), of("red", 1, -1),
                        of("red", 1)),
                mean_of(of("red"), of("red", 1))),
        "green": (of("gr"),
                  mean_of(of("gr"), of("gr", 0, 1), of("gb", -1), of("gb")),
                  mean_of(of("gb"), of("gb", 0, -1), of("gr"), of("gr", 1)),
                  of("gb")),
        "blue": (mean_of(of("blue", -1), of("blue")),
                 mean_of(of("blue"), of("blue", -1), of("blue", 0, 1),
                         of("blue", -1, 1)),
                 of("blue"), mean_of(of("blue"), of("blue", 0, 1))),
    }
    matrix = {"red": (1.6, -0.4, -0.2), "green": (-0.25, 1.5, -0.25),
              "blue": (-0.1, -0.5, 1.6)}
    for channel, pixels in known.items():
        parts += [f"(let {channel}-{plane} (compute (cast f32) {pixel}))"
                  for plane, pixel in zip(planes, pixels)]
    for channel, weights in matrix.items():
        for plane in planes:
            terms = [f"(compute (scale {x}) {c}-{plane})"
                     for x, c in zip(weights, matrix)]
            parts.append(f"""
        (let {channel}-code-{plane}
          (compute (cast u16)
            (compute (clip 0 1023)
              (add (add {terms[0]} {terms[1]}) {terms[2]}))))
        (let {channel}-tone-{plane}
          (reshape
            (access
              (compute (lookup 1024)
                (concat (access curve 0)
                  (access (reshape {channel}-code-{plane}
                    (shape {rows * columns}) (shape)) 0) 0)) 1)
            (shape {rows} {columns}) (shape)))
        """)
        parts.append(mosaic(channel,
                            *(f"{channel}-tone-{plane}" for plane in planes)))
        parts.append(f"""
        (let {channel}-tone
          (compute (cast f32)
            (reshape {channel}-cells
              (shape {2 * rows} {2 * columns}) (shape))))
        (let {channel}-blur
          (compute (scale 0.1111111111)
            (compute reduceSum
              (windows (access {channel}-tone 0) (shape 3 3) (stride 1 1)))))
        (let {channel}-middle
          {cut(channel + "-tone", 1, 1, 2 * rows - 2, 2 * columns - 2)})
        (let {channel}-out
          (compute (cast u8)
            (compute (clip 0 255)
              (add {channel}-middle (sub {channel}-middle {channel}-blur)))))
        """)
    parts += [f"(output {channel}-out)" for channel in matrix]
    return lines(*parts)


@program("pipelines")
def local_laplacian(H=16, W=24, levels=3, K=4, steps=32):
    """Local Laplacian filter: contrast changed without halos.

    The image is remapped around each of K brightnesses by a table, each result
    split into a Laplacian pyramid; the output pyramid takes at each pixel the
    two whose brightness is nearest (`gather` among K), mixed linearly.

    remap: the table, over differences of brightness in `steps` a K-th, the
    middle being no difference."""
    table = 2 * (K - 1) * steps + 1
    middle = (K - 1) * steps
    assert table <= H * W, "the table must not be larger than the image"
    grays = " ".join(f"{k / (K - 1):.10g}" for k in range(K))
    shifts = " ".join(str(middle - k * steps) for k in range(K))
    parts = [f"""
        (tensor image (shape {H} {W}) f32)
        (tensor remap (shape {table}) f32)
        (const grays (shape {K}) f32 {grays})
        (const shifts (shape {K}) f32 {shifts})
        {THREE}
        {FOUR}
        ; around each brightness
        (let every                              ; (({K}, {H}, {W}), ())
          (broadcast (insertAxis image 0) (shape {K} {H} {W})))
        (let gray
          (broadcast (insertAxis (insertAxis grays 1) 2) (shape {K} {H} {W})))
        (let shift
          (broadcast (insertAxis (insertAxis shifts 1) 2) (shape {K} {H} {W})))
        (let place
          (compute add
            (pair (compute (scale {middle}) (compute (clip 0 1) every)) shift)))
        (let tables                             ; (({K}), ({H}, {W}))
          (access
            (broadcast
              (insertAxis (reshape (pad remap zero 0 0 {H * W - table}) (shape {H} {W}) (shape)) 0)
              (shape {K} {H} {W}))
            1))
        (let detail (access (compute gather (pair tables (access place 1))) 3))
        (let g-0
          (compute add
            (pair gray
              (compute add (pair (compute sub (pair every gray)) detail)))))
        (let in-0 image)
        """]
    for k in range(1, levels):
        parts.append(f"; level {k}")
        parts.append(reduced(f"g-{k}", f"g-{k - 1}", 1, "four", (1, 1)))
        parts.append(reduced(f"in-{k}", f"in-{k - 1}", 0, "four", (1, 1)))
    for k in range(levels - 1, -1, -1):
        h, w = H >> k, W >> k
        if k == levels - 1:
            parts.append(f"; what each level shows\n(let l-{k} g-{k})")
        else:
            parts.append(enlarged(f"g-up-{k}", f"g-{k + 1}", 1))
            parts.append(f"(let l-{k} (compute sub (pair g-{k} g-up-{k})))")
        parts.append(f"""
            (let at-{k} (compute (clip 0 {K - 1}) (compute (scale {K - 1}) in-{k})))
            (let low-{k} (compute (clip 0 {K - 2}) (compute floor at-{k})))
            (let two-{k}                        ; (({h}, {w}), ({K})), 2 of use
              (compute gather
                (pair
                  (access (transpose l-{k} (list 1 2 0)) 2)
                  (access
                    (pad
                      (concat (insertAxis low-{k} 2)
                              (insertAxis (compute (offset 1) low-{k}) 2)
                              2)
                      zero 2 0 {K - 2})
                    2))))
            (let lower-{k} (access (squeeze (slice two-{k} 2 0 1) 2) 2))
            (let upper-{k} (access (squeeze (slice two-{k} 2 1 2) 2) 2))
            (let out-{k}
              (compute add
                (pair lower-{k}
                  (compute mul
                    (pair (compute sub (pair at-{k} low-{k}))
                          (compute sub (pair upper-{k} lower-{k})))))))
            """)
        if k == levels - 1:
            parts.append(f"(let sum-{k} out-{k})")
        else:
            parts.append(enlarged(f"sum-up-{k}", f"sum-{k + 1}", 0))
            parts.append(f"(let sum-{k} (compute add (pair out-{k} sum-up-{k})))")
    parts.append("(output sum-0)")
    return lines(*parts)


@program("pipelines")
def bilateral_grid(H=32, W=48, S=8, Z=6):
    """Bilateral filter by a grid of space and brightness.

    Each cell of S x S pixels has a histogram of Z brightnesses: how many
    pixels, and their sum.  The grid is blurred along its three dimensions and
    read at each pixel's place, linearly between the cells, and at its
    brightness (`gather` among Z)."""
    bins = " ".join(str(z) for z in range(Z))
    hats = " ".join(f"{1 - t / S:.10g} {t / S:.10g}" for t in range(S))
    gh, gw = H // S + 1, W // S + 1

    def blurred(name, of, axis):
        taps = ["1", "1", "1"]
        taps[axis] = "5"
        shape = " ".join(taps)
        return f"""
            (let {name}
              (compute dotProd
                (cartProd
                  (windows (access (pad {of} edge {axis + 1} 2 2) 1)
                           (shape {shape}) (stride 1 1 1))
                  (reshape (access five 0) (shape) (shape {shape})))))
            """
    return lines(
        f"""
        (tensor image (shape {H} {W}) f32)
        (const bins (shape {Z}) f32 {bins})
        (const five (shape 5) f32 1 4 6 4 1)
        (const hats (shape {S} 2) f32 {hats})
        (let value (compute (clip 0 1) image))
        (let around                             ; cells lie around their points
          (pad (pad value edge 0 {S // 2} {S // 2}) edge 1 {S // 2} {S // 2}))
        (let bin                                ; the nearest of {Z}
          (compute floor (compute (offset 0.5) (compute (scale {Z - 1}) around))))
        (let every                              ; (({Z}, {H + S}, {W + S}), ())
          (broadcast (insertAxis bin 0) (shape {Z} {H + S} {W + S})))
        (let which
          (broadcast (insertAxis (insertAxis bins 1) 2) (shape {Z} {H + S} {W + S})))
        (let member                             ; 1 in its bin, else 0
          (compute relu
            (compute (offset 1)
              (compute neg (compute abs (compute sub (pair every which)))))))
        (let members                            ; (({Z}, {gh}, {gw}), ({S}, {S}))
          (windows (access member 1) (shape {S} {S}) (stride {S} {S})))
        (let values
          (windows
            (access (broadcast (insertAxis around 0) (shape {Z} {H + S} {W + S})) 1)
            (shape {S} {S}) (stride {S} {S})))
        (let count (compute reduceSum members))
        (let sum (compute dotProd (pair members values)))
        (let grid                               ; ((2, {Z}, {gh}, {gw}), ())
          (concat (insertAxis sum 0) (insertAxis count 0) 0))
        """,
        blurred("blur-z", "grid", 0), blurred("blur-y", "blur-z", 1),
        blurred("blur-x", "blur-y", 2),
        f"""
        (let rows                               ; ((2, {Z}, {gw}, {H // S}, {S}), ())
          (compute dotProd
            (cartProd
              (windows (access (transpose blur-x (list 0 1 3 2)) 3)
                       (shape 2) (stride 1))
              (access hats 1))))
        (let tall                               ; ((2, {Z}, {H}, {gw}), ())
          (transpose
            (reshape (access rows 5) (shape 2 {Z} {gw} {H}) (shape))
            (list 0 1 3 2)))
        (let columns
          (compute dotProd
            (cartProd (windows (access tall 3) (shape 2) (stride 1))
                      (access hats 1))))
        (let fine                               ; ((2, {H}, {W}), ({Z}))
          (access
            (transpose
              (reshape (access columns 5) (shape 2 {Z} {H} {W}) (shape))
              (list 0 2 3 1))
            3))
        (let at (compute (scale {Z - 1}) value))
        (let low (compute (clip 0 {Z - 2}) (compute floor at)))
        (let places                             ; (({H}, {W}), ({Z})), 2 of use
          (access
            (pad
              (concat (insertAxis low 2) (insertAxis (compute (offset 1) low) 2) 2)
              zero 2 0 {Z - 2})
            2))
        (let two
          (compute gather
            (pair fine
              (access (broadcast (insertAxis places 0) (shape 2 {H} {W} {Z})) 3))))
        (let lower (access (squeeze (slice two 3 0 1) 3) 3))
        (let upper (access (squeeze (slice two 3 1 2) 3) 3))
        (let part
          (broadcast (insertAxis (compute sub (pair at low)) 0) (shape 2 {H} {W})))
        (let there
          (compute add
            (pair lower (compute mul (pair part (compute sub (pair upper lower)))))))
        (let filtered
          (compute div
            (pair (squeeze (slice there 0 0 1) 0) (squeeze (slice there 0 1 2) 0))))
        (output filtered)
        """)


# ---- linear algebra and stencils, after PolyBench ----


def matmul(a, b, indent=0):
    out = (f"(compute dotProd\n"
           f"  (cartProd (access {a} 1) (access (transpose {b} (list 1 0)) 1)))")
    return textwrap.indent(out, " " * indent).strip()


@program("polybench")
def k_2mm(I=24, J=28, K=20, L=32):
    """d = alpha * a * b * c + beta * d, three matrix products' worth of sums."""
    return f"""
        (tensor a (shape {I} {K}) f32)
        (tensor b (shape {K} {J}) f32)
        (tensor c (shape {J} {L}) f32)
        (tensor d (shape {I} {L}) f32)
        (let tmp                                ; (({I}, {J}), ())
          (compute (scale 1.5)
            {matmul("a", "b", 12)}))
        (let product                            ; (({I}, {L}), ())
          {matmul("tmp", "c", 10)})
        (let out (compute add (pair product (compute (scale 1.2) d))))
        (output out)
        """


@program("polybench")
def k_3mm(I=24, J=28, K=20, L=32, M=18):
    """g = (a * b) * (c * d)."""
    return f"""
        (tensor a (shape {I} {K}) f32)
        (tensor b (shape {K} {J}) f32)
        (tensor c (shape {J} {M}) f32)
        (tensor d (shape {M} {L}) f32)
        (let e                                  ; (({I}, {J}), ())
          {matmul("a", "b", 10)})
        (let f                                  ; (({J}, {L}), ())
          {matmul("c", "d", 10)})
        (let g                                  ; (({I}, {L}), ())
          {matmul("e", "f", 10)})
        (output g)
        """


@program("polybench")
def gemver(N=40):
    """A matrix with two outer products added, times vectors, both ways round.

    b = a + u1 v1' + u2 v2',  x = beta b' y + z,  w = alpha b x."""
    def outer(u, v):
        return (f"(compute dotProd (cartProd (access (insertAxis {u} 1) 1) "
                f"(access (insertAxis {v} 1) 1)))")
    return f"""
        (tensor a (shape {N} {N}) f32)
        (tensor u1 (shape {N}) f32)
        (tensor v1 (shape {N}) f32)
        (tensor u2 (shape {N}) f32)
        (tensor v2 (shape {N}) f32)
        (tensor y (shape {N}) f32)
        (tensor z (shape {N}) f32)
        (let one
          {outer("u1", "v1")})
        (let two
          {outer("u2", "v2")})
        (let b (compute add (pair a (compute add (pair one two)))))
        (let down                               ; (({N}), ())
          (compute dotProd
            (cartProd (access (transpose b (list 1 0)) 1) (access y 0))))
        (let x (compute add (pair (compute (scale 1.2) down) z)))
        (let w
          (compute (scale 1.5)
            (compute dotProd (cartProd (access b 1) (access x 0)))))
        (output b)
        (output x)
        (output w)
        """


@program("polybench")
def covariance(N=40, M=24):
    """The covariances of the M columns of a table of N rows."""
    return f"""
        (tensor data (shape {N} {M}) f32)
        (let columns (access (transpose data (list 1 0)) 1))    ; (({M}), ({N}))
        (let mean (compute reduceMean columns))
        (let centred                            ; (({M}), ({N}))
          (compute sub
            (pair columns
              (access (broadcast (insertAxis mean 1) (shape {M} {N})) 1))))
        (let covariance                         ; (({M}, {M}), ())
          (compute (scale {1 / (N - 1):.10g})
            (compute dotProd (cartProd centred centred))))
        (output covariance)
        """


@program("polybench")
def doitgen(R=12, Q=10, P=16):
    """A matrix applied to the last dimension of a block of numbers."""
    return f"""
        (tensor a (shape {R} {Q} {P}) f32)
        (tensor c4 (shape {P} {P}) f32)
        (let sum                                ; (({R}, {Q}, {P}), ())
          (compute dotProd
            (cartProd (access a 2) (access (transpose c4 (list 1 0)) 1))))
        (output sum)
        """


@program("polybench")
def jacobi_2d(N=24, T=3):
    """T times two steps of Jacobi's method: each point inside becomes the mean
    of itself and its four neighbours, the border stays."""
    def inside(a, dy, dx):
        return (f"(slice (slice {a} 0 {1 + dy} {N - 1 + dy}) "
                f"1 {1 + dx} {N - 1 + dx})")

    def step(b, a):
        return f"""
            (let {b}-inside
              (compute (scale 0.2)
                (compute add                    ; (({N - 2}, {N - 2}), (5))
                  (concat
                    (pair {inside(a, 0, 0)}
                          {inside(a, 0, -1)})
                    (pair {inside(a, 0, 1)}
                          {inside(a, 1, 0)})
                    (access (insertAxis {inside(a, -1, 0)} 2) 2)
                    2))))
            (let {b}
              (concat
                (slice {a} 0 0 1)
                (concat (slice (slice {a} 0 1 {N - 1}) 1 0 1)
                        {b}-inside
                        (slice (slice {a} 0 1 {N - 1}) 1 {N - 1} {N})
                        1)
                (slice {a} 0 {N - 1} {N})
                0))
            """
    parts = [f"(tensor a-0 (shape {N} {N}) f32)"]
    for t in range(2 * T):
        parts.append(step(f"a-{t + 1}", f"a-{t}"))
    parts.append(f"(output a-{2 * T})")
    return lines(*parts)


# ---- single kernels, for the benchmarks alone ----


@program(None)
def gemm(M=64, N=48, K=32):
    """c = a * b."""
    return f"""
        (tensor a (shape {M} {K}) f32)
        (tensor b (shape {K} {N}) f32)
        (let c
          {matmul("a", "b", 10)})
        (output c)
        """


@program(None)
def conv(C=8, H=14, W=14, O=16, K=3, STRIDE=1, PAD=1):
    """A convolution: NCHW, batch 1, square filters, as much padding on every
    side."""
    image = "image"
    if PAD:
        image = f"(pad (pad image zero 2 {PAD} {PAD}) zero 3 {PAD} {PAD})"
    return f"""
        (tensor image (shape 1 {C} {H} {W}) f32)
        (tensor weights (shape {O} {C} {K} {K}) f32)
        (let result
          (transpose
            (squeeze
              (compute dotProd
                (cartProd
                  (windows
                    (access {image} 1)
                    (shape {C} {K} {K}) (stride 1 {STRIDE} {STRIDE}))
                  (access weights 1)))
              1)
            (list 0 3 1 2)))
        (output result)
        """


def narrow_gemm(dtype, M, N, K):
    return f"""
        (tensor a (shape {M} {K}) {dtype})
        (tensor b (shape {K} {N}) {dtype})
        (let c
          {matmul("a", "b", 10)})
        (output c)
        """


def narrow_conv(dtype, C, H, W, O, K, STRIDE, PAD):
    image = "image"
    if PAD:
        image = f"(pad (pad image zero 1 {PAD} {PAD}) zero 2 {PAD} {PAD})"
    return f"""
        (tensor image (shape 1 {H} {W} {C}) {dtype})
        (tensor weights (shape {O} {K} {K} {C}) {dtype})
        (let result
          (squeeze
            (compute dotProd
              (cartProd
                (windows
                  (access {image} 1)
                  (shape {K} {K} {C}) (stride {STRIDE} {STRIDE} 1))
                (access weights 1)))
            3))
        (output result)
        """


@program(None)
def gemm_i8(M=64, N=48, K=32):
    """c = a * b, of bytes, summed in 32 bits."""
    return narrow_gemm("i8", M, N, K)


@program(None)
def gemm_bf16(M=64, N=48, K=32):
    """c = a * b, of bf16, summed in f32."""
    return narrow_gemm("bf16", M, N, K)


@program(None)
def conv_i8(C=8, H=14, W=14, O=16, K=3, STRIDE=1, PAD=1):
    """A convolution of bytes: NHWC, batch 1, filters as O H W I."""
    return narrow_conv("i8", C, H, W, O, K, STRIDE, PAD)


@program(None)
def conv_bf16(C=8, H=14, W=14, O=16, K=3, STRIDE=1, PAD=1):
    """A convolution of bf16: NHWC, batch 1, filters as O H W I."""
    return narrow_conv("bf16", C, H, W, O, K, STRIDE, PAD)


@program(None)
def pool(C=8, H=14, W=14, K=3, STRIDE=2, PAD=1):
    """The largest of K x K pixels: NCHW, batch 1."""
    return f"""
        (tensor image (shape 1 {C} {H} {W}) f32)
        (let result
          (compute reduceMax
            (windows
              (access
                (pad (pad image min 2 {PAD} {PAD}) min 3 {PAD} {PAD})
                2)
              (shape {K} {K}) (stride {STRIDE} {STRIDE}))))
        (output result)
        """


# ---- files ----


def padded(image, first, amount):
    """With as many zeros around dimensions first and first + 1."""
    return (f"(pad (pad {image} zero {first} {amount} {amount}) "
            f"zero {first + 1} {amount} {amount})" if amount else image)


@program(None)
def depthwise(C=8, H=14, W=14, K=3, STRIDE=1):
    """A filter for every channel: NCHW, batch 1, padded so that a stride of 1
    keeps the size."""
    rows, columns = (H - 1) // STRIDE + 1, (W - 1) // STRIDE + 1
    return f"""
        (tensor image (shape 1 {C} {H} {W}) f32)
        (tensor weights (shape {C} {K} {K}) f32)
        (let patches
          (windows (access {padded("image", 2, K // 2)} 2)
            (shape {K} {K}) (stride {STRIDE} {STRIDE})))
        (let filters
          (broadcast
            (reshape (access weights 1) (shape 1 {C} 1 1) (shape {K} {K}))
            (shape 1 {C} {rows} {columns} {K} {K})))
        (let result (compute dotProd (pair patches filters)))
        (output result)
        """


@program(None)
def depthwise_nhwc(C=8, H=14, W=14, K=3, STRIDE=1):
    """The same with channels innermost: NHWC, filters as H W C."""
    rows, columns = (H - 1) // STRIDE + 1, (W - 1) // STRIDE + 1
    return f"""
        (tensor image (shape 1 {H} {W} {C}) f32)
        (tensor weights (shape {K} {K} {C}) f32)
        (let patches
          (windows
            (access (transpose {padded("image", 1, K // 2)} (list 0 3 1 2)) 2)
            (shape {K} {K}) (stride {STRIDE} {STRIDE})))
        (let filters
          (broadcast
            (reshape (access (transpose weights (list 2 0 1)) 1)
              (shape 1 {C} 1 1) (shape {K} {K}))
            (shape 1 {C} {rows} {columns} {K} {K})))
        (let result
          (transpose (compute dotProd (pair patches filters)) (list 0 2 3 1)))
        (output result)
        """


@program(None)
def grouped(C=8, H=14, W=14, O=16, K=3, GROUPS=2):
    """Groups of channels with filters of their own: NCHW, batch 1."""
    c, o = C // GROUPS, O // GROUPS
    pad = K // 2
    whole = f"1 {GROUPS} {o} {H} {W} {c} {K} {K}"
    return f"""
        (tensor image (shape 1 {C} {H} {W}) f32)
        (tensor weights (shape {O} {c} {K} {K}) f32)
        (let patches
          (broadcast
            (windows
              (access
                (reshape {padded("image", 2, pad)}
                  (shape 1 {GROUPS} {c} {H + 2 * pad} {W + 2 * pad}) (shape))
                2)
              (shape {c} {K} {K}) (stride 1 1 1))
            (shape {whole})))
        (let filters
          (broadcast
            (reshape (access weights 1)
              (shape 1 {GROUPS} {o} 1 1) (shape {c} {K} {K}))
            (shape {whole})))
        (let result
          (reshape (compute dotProd (pair patches filters))
            (shape 1 {O} {H} {W}) (shape)))
        (output result)
        """


@program(None)
def average(C=8, H=14, W=14, K=2, STRIDE=2):
    """The mean of K x K pixels: NCHW, batch 1."""
    return f"""
        (tensor image (shape 1 {C} {H} {W}) f32)
        (let result
          (compute reduceMean
            (windows (access image 2) (shape {K} {K}) (stride {STRIDE} {STRIDE}))))
        (output result)
        """


@program(None)
def layernorm(R=8, N=32):
    """Rows less their mean, over their deviation, times a gain, plus a bias."""
    def row(x):
        return f"(broadcast (access (insertAxis {x} 0) 2) (shape {R} {N}))"

    def column(x):
        return f"(broadcast (access (insertAxis {x} 1) 2) (shape {R} {N}))"
    return f"""
        (tensor x (shape {R} {N}) f32)
        (tensor gain (shape {N}) f32)
        (tensor bias (shape {N}) f32)
        (let mean (compute reduceMean (access x 1)))
        (let centred (compute sub (pair (access x 2) {column("mean")})))
        (let variance
          (compute reduceMean (access (compute mul (pair centred centred)) 1)))
        (let deviation (compute sqrt (compute (offset 0.00001) variance)))
        (let scaled (compute div (pair centred {column("deviation")})))
        (let result
          (compute add
            (pair (compute mul (pair scaled {row("gain")})) {row("bias")})))
        (output result)
        """


@program(None)
def softmax(R=8, N=32):
    """Of each row."""
    return f"""
        (tensor x (shape {R} {N}) f32)
        (let result (compute softmax (access x 1)))
        (output result)
        """


@program(None)
def matvec(M=32, K=32):
    """A matrix, by rows, times a vector."""
    return f"""
        (tensor a (shape {M} {K}) f32)
        (tensor x (shape {K}) f32)
        (let y (compute dotProd (cartProd (access a 1) (access x 0))))
        (output y)
        """


def example_path(name):
    folder = PROGRAMS[name].folder
    return os.path.join(ROOT, "examples", folder, name + ".glen")


def examples():
    return [name for name, p in PROGRAMS.items() if p.folder]


LICENCE = "\n; SPDX-License-Identifier: MIT\n"


def formatted(glen, program):
    """In the one form of `glen rules fmt`, with the line on its licence."""
    return subprocess.run([glen, "rules", "fmt", "-"], input=program + LICENCE,
                          check=True, capture_output=True, text=True).stdout


def write_examples(glen):
    for name in examples():
        os.makedirs(os.path.dirname(example_path(name)), exist_ok=True)
        with open(example_path(name), "w", encoding="utf-8") as f:
            f.write(formatted(glen, text(name)))


def stale_examples(glen):
    out = []
    for name in examples():
        try:
            with open(example_path(name), encoding="utf-8") as f:
                same = f.read() == formatted(glen, text(name))
        except FileNotFoundError:
            same = False
        if not same:
            out.append(name)
    return out


def main():
    arguments = sys.argv[1:]
    if arguments == ["--list"]:
        for name, p in PROGRAMS.items():
            print(name, *(f"{k}={v}" for k, v in p.sizes.items()))
    elif len(arguments) == 2 and arguments[0] == "--write":
        write_examples(arguments[1])
    elif len(arguments) == 2 and arguments[0] == "--check":
        stale = stale_examples(arguments[1])
        if stale:
            sys.exit("differ from what --write writes: " + " ".join(stale))
    elif arguments and arguments[0] in PROGRAMS:
        sizes = dict(a.split("=") for a in arguments[1:])
        sys.stdout.write(text(arguments[0],
                              **{k: int(v) for k, v in sizes.items()}))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
