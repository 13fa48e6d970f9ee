# SPDX-License-Identifier: MIT
"""Files of arrays: what a test says of them is written, right or wrong."""
import json
import struct


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def npy(descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape})
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) +
            head.encode() + data)


def with_header(text, data):
    return struct.pack("<Q", len(text.encode())) + text.encode() + data


def safetensors(arrays, blanks=0, more=None):
    """`arrays`: key, dtype, shape, bytes; blanks behind the header move what
    follows to another alignment."""
    head, data = dict(more or {}), b""
    for key, dtype, shape, part in arrays:
        head[key] = {"dtype": dtype, "shape": list(shape),
                     "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    return with_header(json.dumps(head) + " " * blanks, data)
