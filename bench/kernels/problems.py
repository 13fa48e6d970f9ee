# SPDX-License-Identifier: MIT
"""The problems of the kernel benchmark: sizes, arrays, operations.

A problem names its .glen program (programs.py), its naive C file and what the
peers call it; all three go by `kind`.  Sizes are in the order in which every
peer takes them.
"""
import collections
import json
import math
import os
import re

import programs

HERE = os.path.dirname(os.path.abspath(__file__))

Problem = collections.namedtuple(
    "Problem", "name kind group sizes inputs outputs flops range times types")
# sizes: name -> number; inputs, outputs: elements of each array; types: of
# inputs, whose values workers hold as f32;
# flops: of the definition, without what a stage recomputes; 0: not counted;
# range: of the inputs' values; times: how often a group counts it


def inputs_of(kind, sizes):
    """Elements and type of each tensor that the .glen program declares."""
    found = re.findall(r"^\(tensor \S+ \(shape ([\d ]+)\) (\w+)\)",
                       programs.text(kind, **sizes), re.M)
    return ([math.prod(map(int, shape.split())) for shape, _ in found],
            [dtype for _, dtype in found])


def windows(n, k, stride, pad):
    return (n + 2 * pad - k) // stride + 1


def gemm_facts(M, N, K):
    return [M * N], 2 * M * N * K


def conv_facts(C, H, W, O, K, STRIDE, PAD):
    out = O * windows(H, K, STRIDE, PAD) * windows(W, K, STRIDE, PAD)
    return [out], 2 * out * C * K * K


def pool_facts(C, H, W, K, STRIDE, PAD):
    out = C * windows(H, K, STRIDE, PAD) * windows(W, K, STRIDE, PAD)
    return [out], out * (K * K - 1)


def depthwise_facts(C, H, W, K, STRIDE):
    out = C * ((H - 1) // STRIDE + 1) * ((W - 1) // STRIDE + 1)
    return [out], 2 * out * K * K


def grouped_facts(C, H, W, O, K, GROUPS):
    return [O * H * W], 2 * O * H * W * (C // GROUPS) * K * K


def average_facts(C, H, W, K, STRIDE):
    out = C * windows(H, K, STRIDE, 0) * windows(W, K, STRIDE, 0)
    return [out], out * K * K


def layernorm_facts(R, N):
    return [R * N], 8 * R * N


def softmax_facts(R, N):
    return [R * N], 5 * R * N


def matvec_facts(M, K):
    return [M], 2 * M * K


def blur_facts(H, W):
    return [H * W], 3 * W * (H + 2) + 3 * H * W


def harris_facts(H, W):
    gray, slopes, sums = H * W, (H - 2) * (W - 2), (H - 4) * (W - 4)
    return [sums], 5 * gray + slopes * (2 * 10 + 3) + sums * (3 * 8 + 7)


def unsharp_facts(H, W):
    return [3 * H * W], H * W * (5 + 10 + 10 + 3 + 3)


def facts_2mm(I, J, K, L):
    return [I * L], 2 * I * J * K + I * J + 2 * I * L * J + 2 * I * L


def facts_3mm(I, J, K, L, M):
    return [I * L], 2 * (I * J * K + J * L * M + I * L * J)


def gemver_facts(N):
    return [N * N, N, N], 8 * N * N + 4 * N


def covariance_facts(N, M):
    # Half of the matrix: it is symmetric.
    return [M * M], 2 * N * M + N * M * (M + 1)


def doitgen_facts(R, Q, P):
    return [R * Q * P], 2 * R * Q * P * P


def jacobi_facts(N, T):
    return [N * N], 2 * T * 5 * (N - 2) ** 2


def same_size(H, W, **_):
    """A pipeline whose operations nobody has counted."""
    return [H * W], 0


def three_planes(H, W, **_):
    return [3 * H * W], 0


FACTS = {
    "gemm": gemm_facts, "conv": conv_facts, "pool": pool_facts,
    "blur": blur_facts, "harris": harris_facts, "unsharp": unsharp_facts,
    "2mm": facts_2mm, "3mm": facts_3mm, "gemver": gemver_facts,
    "covariance": covariance_facts, "doitgen": doitgen_facts,
    "jacobi-2d": jacobi_facts, "pyramid-blend": same_size,
    "interpolate": three_planes, "local-laplacian": same_size,
    "bilateral-grid": same_size,
    "depthwise": depthwise_facts, "depthwise-nhwc": depthwise_facts,
    "grouped": grouped_facts,
    "average": average_facts, "layernorm": layernorm_facts,
    "softmax": softmax_facts, "matvec": matvec_facts,
    "gemm-i8": gemm_facts, "gemm-bf16": gemm_facts,
    "conv-i8": conv_facts, "conv-bf16": conv_facts,
}


def problem(name, kind, group, values=(-0.5, 0.5), times=1, **sizes):
    outputs, flops = FACTS[kind](**sizes)
    inputs, types = inputs_of(kind, sizes)
    return Problem(name, kind, group, sizes, inputs, outputs, flops, values,
                   times, types)


def bytes_of(p):
    """What must be read and written at least."""
    return 4 * (sum(p.inputs) + sum(p.outputs))


def resnet50(kind="conv", group="resnet50"):
    """Each shape once, with the number of layers that have it."""
    with open(os.path.join(HERE, "resnet50.json"), encoding="utf-8") as f:
        layers = json.load(f)["layers"]
    shapes = collections.OrderedDict()
    for layer in layers:
        name = layer.pop("name")
        shapes.setdefault(tuple(layer.items()), []).append(name)
    return [problem(f"{group}-{names[0]}", kind, group,
                    times=len(names), **dict(shape))
            for shape, names in shapes.items()]


# Rows, columns and depth of products: squares, those of BERT-base with 128
# tokens, and thin ones.
PRODUCTS = [(64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 512, 512),
            (1024, 1024, 1024), (2048, 2048, 2048), (128, 768, 768),
            (128, 3072, 768), (128, 768, 3072), (128, 64, 128), (1, 1024, 1024),
            (4, 1024, 1024), (16, 1024, 1024), (1024, 16, 1024),
            (1024, 1024, 16)]


def light():
    """What reads each element a few times: no reuse to live on."""
    out = [problem(f"depthwise{k}{end}-{c}x{h}", f"depthwise{end}", "light",
                   C=c, H=h, W=h, K=k, STRIDE=1)
           for end in ("", "-nhwc") for k in (3, 5)
           for c, h in ((32, 112), (144, 56), (192, 28), (384, 14), (960, 7))]
    out += [problem(f"depthwise3s2{end}-{c}x{h}", f"depthwise{end}", "light",
                    C=c, H=h, W=h, K=3, STRIDE=2)
            for end in ("", "-nhwc") for c, h in ((96, 112), (576, 14))]
    out += [problem(f"grouped-{c}x{h}", "grouped", "light", C=c, H=h, W=h, O=c,
                    K=3, GROUPS=32) for c, h in ((128, 56), (256, 28),
                                                 (512, 14), (1024, 7))]
    out += [problem(f"max{k}s{s}-{c}x{h}", "pool", "light", C=c, H=h, W=h, K=k,
                    STRIDE=s, PAD=p)
            for k, s, p, c, h in ((3, 2, 1, 64, 112), (2, 2, 0, 128, 56),
                                  (3, 1, 1, 192, 28), (5, 1, 2, 256, 14))]
    out += [problem(f"mean{k}s{s}-{c}x{h}", "average", "light", C=c, H=h, W=h,
                    K=k, STRIDE=s)
            for k, s, c, h in ((2, 2, 128, 56), (7, 1, 2048, 7))]
    out += [problem(f"layernorm-{r}x{n}", "layernorm", "light", R=r, N=n)
            for r, n in ((128, 768), (197, 192), (16, 4096))]
    out += [problem(f"softmax-{r}x{n}", "softmax", "light", R=r, N=n)
            for r, n in ((1536, 128), (591, 197), (1, 1000))]
    out += [problem(f"matvec-{m}x{k}", "matvec", "light", M=m, K=k)
            for m, k in ((256, 256), (1000, 2048), (4096, 1024))]
    return out


def narrow():
    """Products and convolutions of narrow types; convolutions are NHWC."""
    out = []
    for dtype in ("i8", "bf16"):
        out += [problem(f"{dtype}-{m}x{n}x{k}", f"gemm-{dtype}", dtype,
                        M=m, N=n, K=k) for m, n, k in PRODUCTS]
        out += resnet50(f"conv-{dtype}", f"resnet50-{dtype}")
    return out


IMAGE = (0.1, 1.0)


def standard():
    out = [problem(f"sgemm-{n}", "gemm", "sgemm", M=n, N=n, K=n)
           for n in (64, 128, 256, 512, 1024, 2048)]
    out += [problem(f"bert-{m}x{n}x{k}", "gemm", "bert", M=m, N=n, K=k)
            for m, n, k in PRODUCTS if m == 128 and n != m]
    out += resnet50()
    out += [
        problem("maxpool-64x112", "pool", "pool", C=64, H=112, W=112, K=3,
                STRIDE=2, PAD=1),
        problem("harris", "harris", "pipelines", IMAGE, H=2560, W=1536),
        problem("unsharp", "unsharp", "pipelines", IMAGE, H=2560, W=1536),
        problem("blur", "blur", "pipelines", IMAGE, H=4800, W=6400),
        problem("pyramid-blend", "pyramid-blend", "more", IMAGE, H=2048,
                W=2048),
        problem("interpolate", "interpolate", "more", IMAGE, H=2560, W=1536,
                levels=8),
        problem("local-laplacian", "local-laplacian", "more", IMAGE, H=2560,
                W=1536, levels=8, K=8, steps=256),
        problem("bilateral-grid", "bilateral-grid", "more", IMAGE, H=2560,
                W=1536, S=8, Z=12),
        problem("2mm", "2mm", "polybench", I=800, J=900, K=1100, L=1200),
        problem("3mm", "3mm", "polybench", I=800, J=900, K=1000, L=1100,
                M=1200),
        problem("gemver", "gemver", "polybench", N=2000),
        problem("covariance", "covariance", "polybench", N=1400, M=1200),
        problem("doitgen", "doitgen", "polybench", R=150, Q=140, P=160),
        problem("jacobi-2d", "jacobi-2d", "polybench", N=1300, T=10),
    ]
    return out


def smoke():
    """One of each kind, tiny."""
    out = []
    for kind in FACTS:
        if not FACTS[kind](**programs.PROGRAMS[kind].sizes)[1]:
            continue
        values = IMAGE if kind in ("harris", "unsharp", "blur") else (-0.5, 0.5)
        out.append(problem(kind, kind, "smoke", values,
                           **programs.PROGRAMS[kind].sizes))
    return out
