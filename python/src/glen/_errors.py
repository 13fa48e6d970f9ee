# SPDX-License-Identifier: MIT
"""What goes wrong, as exceptions with places."""
from __future__ import annotations

import dataclasses
import warnings
from typing import Any, NoReturn


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One thing that was said of an input, and where."""

    severity: str
    """``"error"``, ``"warning"`` or ``"note"``."""
    code: str
    """A stable name, as ``"type-mismatch"``; empty for notes."""
    message: str
    hint: str
    """What to do about it, or ``""``."""
    file: str
    """The file, or the name of a text; ``""`` where it has no place."""
    line: int
    """Counted from 1; 0 where it has no place."""
    column: int
    """Counted from 1, in characters."""
    end_line: int
    end_column: int
    """Behind its last character."""
    begin: int
    """The same in bytes of the file, from 0."""
    end: int


class Error(Exception):
    """A failure of glen.  ``str()`` of it shows the lines in question."""

    diagnostics: tuple[Diagnostic, ...]
    """All that was said, in order."""

    def __init__(self, text: str, diagnostics: tuple[Diagnostic, ...] = ()):
        super().__init__(text, diagnostics)
        self.text = text
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return self.text

    @property
    def first(self) -> Diagnostic | None:
        """The first error; None when there was no memory to say one."""
        errors = [d for d in self.diagnostics if d.severity == "error"]
        return errors[0] if errors else None

    def _of_first(self, name: str, otherwise: Any) -> Any:
        return getattr(self.first, name) if self.first else otherwise

    @property
    def code(self) -> str:
        """The code of the first error."""
        return self._of_first("code", "out-of-memory")

    @property
    def message(self) -> str:
        """The message of the first error."""
        return self._of_first("message", self.text)

    @property
    def hint(self) -> str:
        """The hint of the first error, or ``""``."""
        return self._of_first("hint", "")

    @property
    def file(self) -> str:
        """The file of the first error, or ``""``."""
        return self._of_first("file", "")

    @property
    def line(self) -> int:
        """The line of the first error, from 1; 0 where it has none."""
        return self._of_first("line", 0)

    @property
    def column(self) -> int:
        """The column of the first error, from 1; 0 where it has none."""
        return self._of_first("column", 0)


class LimitError(Error):
    """A limit of time or memory left nothing to be given."""


class RefutedError(Error):
    """A rule, or a result, is wrong: some input shows it."""


class CompilerError(Error):
    """There is no C compiler, or it failed."""


class ArrayError(TypeError):
    """An array does not fit the argument it was given for."""


class GlenWarning(UserWarning):
    """A warning of glen; its argument is the text."""


_OUT_OF_MEMORY, _LIMIT, _REFUTED = "out-of-memory", 3, 4
_OF_THE_COMPILER = {"no-compiler", "compile-failed"}


def _class_of(status: int, codes: set[str]) -> type[Error]:
    if codes & _OF_THE_COMPILER:
        return CompilerError
    return {_LIMIT: LimitError, _REFUTED: RefutedError}.get(status, Error)


def _told(job: Any) -> tuple[tuple[Diagnostic, ...], str, int]:
    items, text, status = job.diagnostics()
    return tuple(Diagnostic(*item) for item in items), text, status


def fail(job: Any) -> NoReturn:
    """Raises what the diagnostics of the job say."""
    diagnostics, text, status = _told(job)
    if not diagnostics and _OUT_OF_MEMORY in text:
        raise MemoryError(text.strip())
    codes = {d.code for d in diagnostics if d.severity == "error"}
    raise _class_of(status, codes)(text.rstrip() or "glen failed", diagnostics)


def check(job: Any, ok: Any) -> Any:
    """What was made; where nothing was, the exception; warnings are given."""
    if ok is None or ok is False:
        fail(job)
    diagnostics, text, _ = _told(job)
    if any(d.severity == "warning" for d in diagnostics):
        warnings.warn(GlenWarning(text.rstrip()), stacklevel=4)
    if diagnostics:
        job.clear()
    return ok
