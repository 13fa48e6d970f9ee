# SPDX-License-Identifier: MIT
"""What of files in the ONNX format the tests look at: fields as protobuf has
them on the wire, and tensors."""
import struct

import encode

UNPACK = {1: "f", 2: "B", 3: "b", 4: "H", 5: "h", 6: "i", 7: "q", 9: "?",
          10: "e", 11: "d", 12: "I", 13: "Q"}
LISTS = {4: "f", 5: "i", 7: "q", 10: "d", 11: "Q"}


def varint(data, at):
    v = shift = 0
    while True:
        byte = data[at]
        v |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return v, at


def fields(data):
    """Pairs of a field's number and its value: an integer or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            v, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = varint(data, at)
            v, at = data[at:at + size], at + size
        yield key >> 3, v


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def several(data, field):
    return [v for k, v in fields(data) if k == field]


def first(data, field, otherwise=None):
    return next(iter(several(data, field)), otherwise)


def whole_list(values):
    """Integers, packed or not."""
    out = []
    for v in values:
        if isinstance(v, int):
            out.append(signed(v))
            continue
        at = 0
        while at < len(v):
            one, at = varint(v, at)
            out.append(signed(one))
    return out


def tensor(data):
    """(name, element type, shape, elements) of a TensorProto."""
    dtype = first(data, 2, 0)
    shape = whole_list(several(data, 1))
    name = first(data, 8, b"").decode()
    raw = first(data, 9)
    if raw is not None:
        code = UNPACK[dtype]
        return name, dtype, shape, list(
            struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw))
    for field, code in LISTS.items():
        found = several(data, field)
        if not found:
            continue
        if code in "iqQ":
            return name, dtype, shape, whole_list(found)
        data = b"".join(found)
        return name, dtype, shape, list(
            struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}",
                          data))
    return name, dtype, shape, []


def element_type(info):
    """That of a ValueInfoProto, or None where it is no dense tensor."""
    kind = first(info, 2)
    dense = first(kind, 1) if kind else None
    return first(dense, 1) if dense else None


def graph_of(model):
    return first(model, 7)


def values(graph, field):
    """(name, element type) of the inputs (11) or outputs (12)."""
    return [(first(v, 1, b"").decode(), element_type(v))
            for v in several(graph, field)]


def without(data, is_dropped):
    """A message of integers and blocks, without some of its fields."""
    return b"".join(encode.number(k, v) if isinstance(v, int)
                    else encode.block(k, v)
                    for k, v in fields(data) if not is_dropped(k, v))


def with_known(model, tensors):
    """The model with inputs, (name, tensor as bytes), as initializers, of the
    types that it declares: those of bf16 are stored as others.  They are inputs
    no longer, since some have another shape than is declared."""
    graph, names = graph_of(model), {name for name, _ in tensors}
    declared = dict(values(graph, 11))
    graph = without(graph, lambda k, v: k == 11 and
                    first(v, 1, b"").decode() in names)
    for name, data in tensors:
        kept = b"".join(encode.number(k, declared[name] if k == 2 else v)
                        if isinstance(v, int)
                        else encode.block(k, v)
                        for k, v in fields(data) if k in (1, 2, 4, 5, 7, 9, 10,
                                                          11))
        graph += encode.block(5, kept + encode.block(8, name))
    return without(model, lambda k, v: k == 7) + encode.block(7, graph)
