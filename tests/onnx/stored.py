# SPDX-License-Identifier: MIT
"""Elements of known tensors in each form that a model may store them in: raw
bytes, the typed list of their type, a file beside the model; of each type, with
the least and the greatest value and those beside them.  One model gives all of them
back, element by element.  In each form one element too few or too many is refused, and so
is a file that is not there, too short, or not where it may be."""
import os
import struct
import subprocess
import tempfile

import npy
import texts
from encode import (BOOL, DOUBLE, FLOAT, FLOAT16, INT16, INT32, INT64, INT8,
                    UINT16, UINT32, UINT8, block, model, node, number, value,
                    varint)

BFLOAT16 = 16
# Type: how an element is packed, the field of its list, its values.
TYPES = {
    FLOAT: ("f", 4, [0.0, -0.0, 1.5, -3.4028234663852886e38, 1e-45,
                     float("inf"), float("-inf"), 0.1]),
    DOUBLE: ("d", 10, [0.0, -1e308, 5e-324, 0.1, 3.0, float("-inf")]),
    FLOAT16: ("e", 5, [0.0, -65504.0, 6e-8, 0.5, float("inf"), -2.0]),
    BFLOAT16: ("H", 5, [0x3f80, 0xc000, 0x7f80, 0xff7f, 0x0001, 0x8000]),
    INT8: ("b", 5, [-128, -127, -1, 0, 1, 127]),
    UINT8: ("B", 5, [0, 1, 127, 128, 254, 255]),
    INT16: ("h", 5, [-32768, -32767, -1, 0, 256, 32767]),
    UINT16: ("H", 5, [0, 255, 256, 32767, 32768, 65535]),
    INT32: ("i", 5, [-2 ** 31, -2 ** 31 + 1, -1, 0, 65536, 2 ** 31 - 1]),
    UINT32: ("I", 11, [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1]),
    INT64: ("q", 7, [-2 ** 53, -2 ** 32 - 1, -1, 0, 2 ** 31, 2 ** 53 - 1]),
    BOOL: ("?", 5, [False, True, True, False, False, True]),
}
NPY = {FLOAT: "<f4", DOUBLE: "<f8", FLOAT16: "<f2", INT8: "|i1", UINT8: "|u1",
       INT16: "<i2", UINT16: "<u2", INT32: "<i4", UINT32: "<u4", INT64: "<i8",
       BOOL: "|b1"}
BESIDE = "beside.bin"


def packed(dtype, values):
    return struct.pack(f"<{len(values)}{TYPES[dtype][0]}", *values)


def entries(dtype, values, single):
    """The typed list, as one block or an entry for each element."""
    letter, field, _ = TYPES[dtype]
    if letter in "fd":
        each = [struct.pack("<" + letter, v) for v in values]
        kind = 5 if letter == "f" else 1
    else:
        bits = [struct.unpack("<H", struct.pack("<e", v))[0] for v in values] \
            if letter == "e" else values
        each, kind = [varint(int(v)) for v in bits], 0
    if single:
        return b"".join(varint(field << 3 | kind) + e for e in each)
    return block(field, b"".join(each))


def stored(name, dtype, n, body):
    return number(1, n) + number(2, dtype) + block(8, name) + body


def beside(*pairs):
    return b"".join(block(13, block(1, k) + (b"" if v is None else block(2, v)))
                    for k, v in pairs) + number(14, 1)


FORMS = {
    "raw": lambda dtype, values: block(9, packed(dtype, values)),
    "listed": lambda dtype, values: entries(dtype, values, False),
    "listed one by one": lambda dtype, values: entries(dtype, values, True),
}


def all_forms():
    """(name, dtype, values, tensor) and the bytes of the file beside them."""
    data, out = b"?", []
    for dtype, (_, _, values) in TYPES.items():
        for k, form in enumerate(FORMS):
            name = f"w{dtype}_{k}"
            out.append((name, dtype, values,
                        stored(name, dtype, len(values),
                               FORMS[form](dtype, values))))
        bits = packed(dtype, values)
        for k, pairs in enumerate((
                [("location", BESIDE), ("offset", str(len(data)))],
                [("length", str(len(bits))), ("checksum", "0"),
                 ("offset", str(len(data))), ("location", BESIDE)])):
            name = f"w{dtype}_{k}beside"
            out.append((name, dtype, values, stored(
                name, dtype, len(values), beside(*pairs))))
        data += bits
    return out, data


def run(glen, folder, data):
    with open(os.path.join(folder, "m.onnx"), "wb") as f:
        f.write(data)
    return subprocess.run(
        [glen, "run", "m.onnx", "--interpret", "--output", "y.npy"],
        cwd=folder, capture_output=True, text=True, timeout=60)


def same(dtype, values, path):
    """Bit by bit; a bfloat16 comes back as a float."""
    wanted = packed(dtype, values)
    if dtype == BFLOAT16:
        dtype = FLOAT
        wanted = b"".join(b"\0\0" + struct.pack("<H", v) for v in values)
    code, shape, have = npy.load(path)
    return code == NPY[dtype] and tuple(shape) == (len(values),) and \
        packed(dtype, have) == wanted


def given_back(glen):
    tensors, data = all_forms()
    nodes, outs = [], []
    for name, dtype, values, _ in tensors:
        to = FLOAT if dtype == BFLOAT16 else dtype
        nodes.append(node("Cast", [name], ["y" + name], name, to=to))
        outs.append(value("y" + name, to, (len(values),)))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, BESIDE), "wb") as f:
            f.write(data)
        done = run(glen, folder, model(nodes, [], outs, [t for *_, t in tensors]))
        if done.returncode:
            print(f"FAILED stored elements: {done.stderr[:2000]}")
            return 0, len(tensors)
        good = 0
        for name, dtype, values, _ in tensors:
            path = os.path.join(folder, f"y.y{name}.npy")
            if same(dtype, values, path):
                good += 1
            else:
                print(f"FAILED stored elements of {name}: {npy.load(path)}")
    return good, len(tensors) - good


def wrong_counts():
    for dtype, (_, _, values) in TYPES.items():
        for form, body in FORMS.items():
            for n in (len(values) - 1, len(values) + 1):
                yield (f"{form} of type {dtype}, {n} for {len(values)}",
                       stored("w", dtype, len(values),
                              body(dtype, (values + values)[:n])), dtype)
    yield "none", stored("w", FLOAT, 2, b""), FLOAT


def wrong_places():
    """Of two floats; the file has 11 bytes."""
    here = ("location", BESIDE)
    for pairs in ([], [("offset", "0")], [("location", None)],
                  [here, ("offset", None)], [here, ("offset", "4")],
                  [here, ("offset", "11")], [here, ("offset", "-1")],
                  [here, ("offset", "x")], [here, ("offset", "1x")],
                  [here, ("offset", "")], [here, ("length", "7")],
                  [here, ("length", "9")], [here, ("length", "x")],
                  [here, ("length", "-8")], [here, ("length", "0")],
                  [here, ("offset", str(2 ** 63 - 1))],
                  [here, ("offset", str(2 ** 63))],
                  [("location", "nowhere.bin")], [("location", "")],
                  [("location", ".")], [("location", "../" + BESIDE)],
                  [("location", "/dev/zero")]):
        yield f"beside by {pairs}", stored("w", FLOAT, 2, beside(*pairs)), FLOAT


def refused(glen, body, dtype):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, BESIDE), "wb") as f:
            f.write(b"\0" * 11)
        to = FLOAT if dtype == BFLOAT16 else dtype
        done = run(glen, folder, model(
            [node("Cast", ["w"], ["y"], "here", to=to)], [],
            [value("y", to, (2,))], [body]))
        return done.returncode == 1 and "error: " in done.stderr and \
            not texts.incomplete(done.stderr) and not os.path.exists(
                os.path.join(folder, "y.npy"))


def check(glen):
    passed, failed = given_back(glen)
    for what, body, dtype in [*wrong_counts(), *wrong_places()]:
        good = refused(glen, body, dtype)
        passed += good
        failed += not good
        if not good:
            print(f"FAILED stored elements, {what}: not refused")
    return passed, failed
