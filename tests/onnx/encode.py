# SPDX-License-Identifier: MIT
"""Models in the ONNX format, written byte by byte: the wire format of protobuf
and the fields that models of a few nodes need."""
import struct

(FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE,
 UINT32, UINT64) = range(1, 14)
PACK = {FLOAT: "f", UINT8: "B", INT8: "b", UINT16: "H", INT16: "h",
        INT32: "i", INT64: "q", BOOL: "?", FLOAT16: "e", DOUBLE: "d", UINT32: "I"}


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def number(field, v):
    return varint(field << 3) + varint(v)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def real(field, v):
    return varint(field << 3 | 5) + struct.pack("<f", v)


def tensor(name, dtype, shape, values, external=None):
    """`external`: pairs of a key and a value, in place of the elements."""
    out = b"".join(number(1, d) for d in shape) + number(2, dtype)
    out += block(8, name)
    if external is None:
        return out + block(9, struct.pack(f"<{len(values)}{PACK[dtype]}",
                                          *values))
    for k, v in external:
        out += block(13, block(1, k) + block(2, v))
    return out + number(14, 1)


class Graph(bytes):
    """The graph of a node, as an attribute."""

    def __repr__(self):
        return "graph"


class Reference:
    """An attribute of the function in which a node stands, of that kind."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind


def attribute(name, v):
    out = block(1, name)
    if isinstance(v, Reference):
        return out + number(20, v.kind) + block(21, v.name)
    if isinstance(v, Graph):
        return out + block(6, v) + number(20, 5)
    if isinstance(v, bytes):
        return out + block(5, v) + number(20, 4)
    if isinstance(v, float):
        return out + real(2, v) + number(20, 1)
    if isinstance(v, int):
        return out + number(3, v) + number(20, 2)
    if isinstance(v, str):
        return out + block(4, v) + number(20, 3)
    if v and isinstance(v[0], str):
        return out + b"".join(block(9, x) for x in v) + number(20, 8)
    if v and isinstance(v[0], float):
        return out + b"".join(real(7, x) for x in v) + number(20, 6)
    return out + b"".join(number(8, x) for x in v) + number(20, 7)


def node(op, inputs, outputs, name="", domain="", **attributes):
    out = b"".join(block(1, i) for i in inputs)
    out += b"".join(block(2, o) for o in outputs)
    out += block(3, name) + block(4, op)
    out += b"".join(block(5, attribute(k, v)) for k, v in attributes.items())
    return out + (block(7, domain) if domain else b"")


def value(name, dtype, shape):
    """A size that is a text is a symbol; without a shape, none is declared."""
    dims = b"".join(block(1, block(2, d) if isinstance(d, str)
                          else number(1, d)) for d in shape or ())
    said = b"" if shape is None else block(2, dims)
    return block(1, name) + block(2, block(1, number(1, dtype) + said))


def graph(nodes, inputs, outputs, initializers=(), between=()):
    out = b"".join(block(1, n) for n in nodes) + block(2, "g")
    out += b"".join(block(5, t) for t in initializers)
    out += b"".join(block(11, v) for v in inputs)
    out += b"".join(block(12, v) for v in outputs)
    return Graph(out + b"".join(block(13, v) for v in between))


def function(name, inputs, outputs, nodes, attributes=(), defaults=(),
             domain="own", opset=17, overload=""):
    """`defaults`: attributes that a call may leave out, encoded."""
    out = block(1, name) + b"".join(block(4, i) for i in inputs)
    out += b"".join(block(5, o) for o in outputs)
    out += b"".join(block(6, a) for a in attributes)
    out += b"".join(block(7, n) for n in nodes)
    out += block(9, block(1, "") + number(2, opset)) + block(10, domain)
    out += b"".join(block(11, a) for a in defaults)
    return out + (block(13, overload) if overload else b"")


def model(nodes, inputs, outputs, initializers=(), opset=17, between=(),
          functions=()):
    held = graph(nodes, inputs, outputs, initializers, between)
    return (number(1, 8) + block(7, held) +
            block(8, block(1, "") + number(2, opset)) +
            b"".join(block(25, f) for f in functions))
