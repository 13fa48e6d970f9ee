# SPDX-License-Identifier: MIT
"""Compiled kernels: callables on arrays."""
from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional

import numpy

from . import _core
from ._errors import ArrayError

DTYPES: dict[str, numpy.dtype] = {
    "f32": numpy.dtype(numpy.float32), "f64": numpy.dtype(numpy.float64),
    "bf16": numpy.dtype(numpy.uint16), "i8": numpy.dtype(numpy.int8),
    "u8": numpy.dtype(numpy.uint8), "i32": numpy.dtype(numpy.int32),
    "f16": numpy.dtype(numpy.float16), "i16": numpy.dtype(numpy.int16),
    "u16": numpy.dtype(numpy.uint16), "bool": numpy.dtype(numpy.bool_),
    "i64": numpy.dtype(numpy.int64), "u32": numpy.dtype(numpy.uint32)}


@dataclasses.dataclass(frozen=True)
class Argument:
    """An input or an output of a kernel."""

    name: str
    dtype: str
    """As programs write it: ``"f32"``.  A ``bf16`` is 16 bits in numpy's
    ``uint16``."""
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


def _array_of(name: str, given: Any) -> numpy.ndarray:
    if isinstance(given, (list, tuple, int, float, complex, str)):
        raise ArrayError(f"{name}: a {type(given).__name__} is no array; make "
                         "one by numpy.asarray(..., dtype=...)")
    try:
        if (hasattr(given, "__dlpack__") and
                not isinstance(given, numpy.ndarray)):
            given = _core.borrow(given)
        return numpy.asarray(given)
    except (TypeError, ValueError, BufferError) as why:
        raise ArrayError(f"{name}: {why}") from None


def _has_dtype(array: numpy.ndarray, dtype: str) -> bool:
    found = array.dtype
    if dtype == "u8" and found == numpy.bool_:
        return True
    if dtype == "bf16" and found.name == "bfloat16":
        return True
    return found.newbyteorder("=") == DTYPES[dtype]


def _narrowed(name: str, dtype: str, given: Any) -> Any:
    """Integers of 64 bits, which are numpy's own, where i32 is asked for."""
    if dtype != "i32" or getattr(given, "dtype", None) != numpy.int64:
        return given
    narrow = numpy.asarray(given).astype(numpy.int32)
    if not numpy.array_equal(narrow, given):
        raise ArrayError(f"{name} has elements that i32 does not hold")
    return narrow


def _fitting(name: str, dtype: str, shape: tuple[int, ...],
             given: Any) -> numpy.ndarray:
    array = _array_of(name, given)
    if array.shape != shape or not _has_dtype(array, dtype):
        raise ArrayError(f"{name} is {dtype}{list(shape)}, the array is "
                         f"{array.dtype}{list(array.shape)}")
    if array.dtype.name == "bfloat16" or (dtype == "u8" and
                                          array.dtype == numpy.bool_):
        array = array.view(DTYPES[dtype])
    return array


def _overlaps(array: numpy.ndarray) -> bool:
    """Whether elements share a place, as those of windows do."""
    steps = sorted((abs(step), size) for step, size
                   in zip(array.strides, array.shape) if size > 1)
    room, nested = array.itemsize, True
    for step, size in steps:
        nested = nested and step >= room
        room += step * (size - 1)
    if nested:
        return False
    places = numpy.zeros(1, numpy.int64)
    for step, size in steps:
        places = numpy.add.outer(places, step * numpy.arange(size)).ravel()
    return bool((numpy.diff(numpy.sort(places)) < array.itemsize).any())


def convert(kernel: Kernel, name: str, dtype: str, k: int, given: Any,
            output: bool) -> numpy.ndarray:
    """An array in C order for what cannot be taken as it is; for an output one
    whose elements are copied back after the call."""
    shape = kernel._arguments[k][3]
    if not output:
        given = _narrowed(name, dtype, given)
    array = _fitting(name, dtype, shape, given)
    if not output:
        return numpy.require(array, DTYPES[dtype], ["C", "A", "E"])
    if not array.flags.writeable:
        raise ArrayError(f"{name}: the array cannot be written to")
    if _overlaps(array):
        raise ArrayError(f"{name} is an output, and the strides of the array "
                         "let elements overlap")
    return numpy.empty(shape, DTYPES[dtype])


class Kernel(_core.Kernel):
    """A compiled program, called with its inputs in their order or by their
    names.

    Arrays are taken where they lie if their elements stand in C order without
    gaps, and copied if not; outputs are new arrays, or those of ``out=``.
    Several threads may call one kernel: the call releases Python's lock.
    """

    inputs: tuple[Argument, ...]
    """What a call is given, in order."""
    outputs: tuple[Argument, ...]
    """What it returns: the one array, or a tuple of them."""
    verdict: Optional[str]
    """What ``verify`` said of the rewritten program; None: not asked."""

    def _finish(self, recipe: tuple, verdict: Optional[str],
                bound: Mapping[str, Any]) -> "Kernel":
        self._recipe = recipe
        self.verdict = verdict
        arguments = self._arguments
        self.outputs = tuple(Argument(a[0], a[2], a[3]) for a in arguments
                             if a[1])
        self._prepare(numpy.empty, convert, tuple(
            (a.shape, DTYPES[a.dtype]) for a in self.outputs))
        unknown = set(bound) - {a[0] for a in arguments if not a[1]}
        if unknown:
            raise ValueError(f"the program has no input named "
                             f"{min(unknown)}")
        if any(a[5] for a in arguments):
            self._pack(dict(bound))
        for k, argument in enumerate(arguments):
            if argument[0] in bound and not argument[1] and not argument[5]:
                self._bind(k, bound[argument[0]])
        self.inputs = tuple(Argument(a[0], a[2], a[3]) for a in self._arguments
                            if not a[1] and not a[4])
        return self

    def _write_back(self, k: int, made: Any, to: Any) -> None:
        name, _, dtype, shape = self._arguments[k][:4]
        _fitting(name, dtype, shape, to)[...] = made

    def __repr__(self) -> str:
        given = ", ".join(map(str, self.inputs))
        made = ", ".join(map(str, self.outputs))
        return f"<glen.Kernel ({given}) -> {made}>"

    def __reduce__(self) -> Any:
        from ._compile import _again
        return _again, self._recipe
