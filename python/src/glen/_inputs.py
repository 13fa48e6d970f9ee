# SPDX-License-Identifier: MIT
"""Programs, targets and rules: what a job reads."""
from __future__ import annotations

import dataclasses
import operator
import os
from typing import Any, Iterable, Mapping, Optional, Union

from . import _core
from ._errors import check

Path = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class Text:
    """A text in memory and the name that messages call it by.  Files that it
    names are looked for beside that name."""

    text: str
    name: str = "<text>"

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"{self.name}: the text must be a str, not "
                            f"{type(self.text).__name__}")
        try:
            self.text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{self.name}: character {error.start} is half of a surrogate "
                "pair: the text was decoded with the wrong encoding or error "
                "handler") from None


def is_text(source: str) -> bool:
    """Every form of the language has a parenthesis, and no name of a file that
    is meant so has."""
    return "(" in source or "\n" in source


def counts(**numbers: Any) -> dict[str, Any]:
    """The same; one that is no count for the library is a ValueError."""
    for name, value in numbers.items():
        if isinstance(value, int) and not 0 <= value < 1 << 32:
            raise ValueError(f"{name} is {value}: it is a number from 0 to "
                             f"{(1 << 32) - 1}")
    return numbers


# ---- targets ----

Target = Union[None, str, "os.PathLike[str]", Text]


def as_target(target: Target) -> Union[None, str, Text]:
    if target is None or isinstance(target, Text):
        return target
    name = os.fspath(target)
    if isinstance(target, str) and is_text(name):
        return Text(name, "<target>")
    return name


def read_target(job: Any, target: Union[None, str, Text]) -> None:
    if isinstance(target, Text):
        check(job, job.target(target.name, target.text))
    else:
        check(job, job.target(target, None))


# ---- rules ----

Rules = Union[None, str, "os.PathLike[str]", Text,
              Iterable[Union[str, "os.PathLike[str]", Text]]]


@dataclasses.dataclass(frozen=True)
class RuleSet:
    """Names of files and folders, and texts."""

    paths: tuple[str, ...] = ()
    texts: tuple[Text, ...] = ()
    params: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.paths or self.texts)

    def read(self, job: Any) -> None:
        """Into the job, whose target is there."""
        if not self.texts:
            check(job, job.rules(self.paths, self.params, None, None))
            return
        if self.params:
            raise ValueError("parameters are those of rule files: in rules "
                             "that are a text, write the value")
        text = "\n".join(part.text for part in self.texts)
        check(job, job.rules(self.paths, (), self.texts[0].name, text))


def shipped_rules() -> str:
    """The folder of the rules that come with glen."""
    found = _core.find("rules", None)
    if found is None:
        raise FileNotFoundError("the rules that come with glen are not there")
    return found


def _one_rule_source(source: Any, paths: list, texts: list) -> None:
    if isinstance(source, Text):
        texts.append(source)
    elif isinstance(source, str) and is_text(source):
        texts.append(Text(source, "<rules>"))
    else:
        paths.append(os.fspath(source))


def as_rules(rules: Rules, params: Mapping[str, Any]) -> RuleSet:
    """None: those that come with glen; "none": no rule at all."""
    if rules is None:
        rules = [shipped_rules()]
    elif rules == "none":
        rules = []
    elif isinstance(rules, (str, os.PathLike, Text)):
        rules = [rules]
    paths: list[str] = []
    texts: list[Text] = []
    for source in rules:
        _one_rule_source(source, paths, texts)
    given = tuple(f"{name}={value}" for name, value in params.items())
    return RuleSet(tuple(paths), tuple(texts), given)


# ---- programs ----

class Program:
    """A tensor program; :func:`glen.parse` and :func:`glen.load_program`
    make it.

    It holds its text, so that it can be sent to another process, and nothing
    that would have to be freed.
    """

    def __init__(self, source: Union[Text, str], target: Target = None,
                 sizes: tuple[str, ...] = ()):
        self._source = source
        self._sizes = sizes
        self.target = as_target(target)
        """The target that its instructions are of, or None."""
        job = self._open(self.target)
        # A model takes long to read: the first who needs it takes this job.
        self._ready = job if self.is_model else None
        names = job.inputs()
        self.inputs: tuple[str, ...] = tuple(names[0])
        """The names of the inputs, in the order of a call."""
        self.outputs: tuple[str, ...] = tuple(names[1])
        """The names of the outputs."""

    @property
    def name(self) -> str:
        """The file, or what messages call the text."""
        source = self._source
        return source.name if isinstance(source, Text) else source

    @property
    def is_model(self) -> bool:
        """Was it read from a file in the ONNX format?"""
        return not isinstance(self._source, Text)

    def read(self, job: Any, slot: int = 0) -> None:
        """Into the job, whose target is there."""
        source = self._source
        if isinstance(source, Text):
            check(job, job.program(slot, source.name, source.text,
                                   self._sizes))
        else:
            check(job, job.model(slot, source, self._sizes))

    def _open(self, target: Union[None, str, Text], seconds: float = 0,
              memory: int = 0) -> Any:
        for name, limit in (("time_limit", seconds), ("memory_limit", memory)):
            if not limit >= 0:
                raise ValueError(f"{name} is {limit}: a limit is above 0, and 0 "
                                 "stands for none")
        job = self._take_ready() if not seconds and not memory else None
        if job is not None and target == self.target:
            return job
        job = _core.Job(seconds, memory)
        read_target(job, target)
        self.read(job)
        return job

    def _take_ready(self) -> Any:
        return self.__dict__.pop("_ready", None)

    @property
    def text(self) -> str:
        """The program in its printed form, which parses again."""
        return self._open(self.target).text("program")

    @property
    def typed_text(self) -> str:
        """The same with the type of every term as a comment."""
        return self._open(self.target).text("types")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return (f"<glen.Program {self.name}: {', '.join(self.inputs)} -> "
                f"{', '.join(self.outputs)}>")

    def __reduce__(self) -> Any:
        return Program, (self._source, self.target, self._sizes)

    def __eq__(self, other: Any) -> bool:
        return (isinstance(other, Program) and
                self.__reduce__() == other.__reduce__())

    def __hash__(self) -> int:
        return hash((self._source, self.target, self._sizes))


def read_file(path: Path) -> Text:
    name = os.fspath(path)
    try:
        with open(path, encoding="utf-8", newline="") as f:
            return Text(f.read(), name)
    except UnicodeDecodeError:
        job = _core.Job()  # the library says what it is instead
        check(job, job.model(0, os.fsdecode(name), ()))
        raise


def _decoded(text: bytes) -> str:
    """Bytes that are a program."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"the program is not UTF-8 text: byte {error.start} is "
            f"0x{text[error.start]:02x}; decode it by the encoding it has"
        ) from None


def parse(source: Union[Path, Text], *, target: Target = None,
          sizes: Optional[Mapping[str, int]] = None) -> Program:
    """Reads a program: a text with parentheses, or the path of a file.

    ``target`` says what instructions may stand in it, and ``sizes`` gives
    values to the sizes that it leaves open: ``sizes={"n": 64}``.  What is wrong
    with the text is raised as :class:`glen.Error`, with its line, column and
    hint.
    """
    given = _given(sizes or {})
    if isinstance(source, Text):
        return Program(source, target, given)
    if isinstance(source, bytes) and is_text(os.fsdecode(source)):
        source = _decoded(source)
    name = os.fsdecode(source)
    if isinstance(source, str) and is_text(name):
        return Program(Text(name, "<program>"), target, given)
    if name.endswith(".onnx"):
        return Program(name, target, given)
    return Program(read_file(name), target, given)


def _given(sizes: Mapping[str, int]) -> tuple[str, ...]:
    """As the library reads them; code for any size cannot be called here."""
    given = []
    for name, value in sizes.items():
        try:
            given.append(f"{name}={operator.index(value)}")
        except TypeError:
            raise TypeError(f"sizes: {name} must be a whole number, not "
                            f"{value!r}") from None
    return tuple(given)


def load_program(path: Path, sizes: Optional[Mapping[str, int]] = None, *,
                 target: Target = None) -> Program:
    """Reads a model in the ONNX format, or a file as :func:`glen.parse` does.

    ``sizes`` gives values to what the model or the program leaves open.
    """
    name = os.fsdecode(path)
    if name.endswith(".onnx"):
        return Program(name, target, _given(sizes or {}))
    return parse(read_file(name), target=target, sizes=sizes)


def as_program(source: Union[Program, Path, Text]) -> Program:
    return source if isinstance(source, Program) else parse(source)
