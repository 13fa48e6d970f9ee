# SPDX-License-Identifier: MIT
"""Arrays in .npy and .npz files, without numpy: a dtype, a shape and a flat
list of numbers."""
import array
import ast
import struct
import zipfile

CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "<u4": "I", "|u1": "B",
         "|i1": "b", "<V2": "H", "<u2": "H", "<i2": "h",
         "|b1": "B"}


def parse(data):
    """The dtype, the shape and the elements of the bytes of a .npy file."""
    if data[:6] != b"\x93NUMPY":
        raise ValueError("this is not a .npy file")
    wide = data[6] > 1
    size = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    start = (12 if wide else 10) + size
    header = ast.literal_eval(data[12 if wide else 10:start].decode())
    if header["descr"] == "<f2":  # array has no such type
        n = (len(data) - start) // 2
        return ("<f2", header["shape"],
                list(struct.unpack_from(f"<{n}e", data, start)))
    elements = array.array(CODES[header["descr"]])
    elements.frombytes(data[start:])
    return header["descr"], header["shape"], elements


def load(path):
    with open(path, "rb") as f:
        return parse(f.read())


def save(path, dtype, shape, elements):
    text = repr({"descr": dtype, "fortran_order": False,
                 "shape": tuple(shape)})
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)))
        f.write(text.encode())
        f.write(struct.pack(f"<{len(elements)}e", *elements)
                if dtype == "<f2"
                else array.array(CODES[dtype], elements).tobytes())


def load_all(path):
    """The arrays of a .npz file by name."""
    with zipfile.ZipFile(path) as z:
        return {n[:-4]: parse(z.read(n)) for n in z.namelist()}
