# SPDX-License-Identifier: MIT
"""Schedules of layers, measured by the workers of any executor."""
from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import platform
import subprocess
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from . import _cache, _core
from ._compile import compile, words
from ._errors import check
from ._inputs import Path, Program, Target, Text, as_program, as_target, counts
from ._kernel import Kernel
from ._saturate import Result
from ._store import Store

Net = Union[Program, Result, Path, Text, Sequence[Any], Mapping[str, Any]]


# ---- layers ----

def canonical(program: Union[Program, Path, Text]) -> Program:
    """The program without its names and with its inputs in the order in which
    its outputs use them: equal texts are equal layers."""
    source = as_program(program)
    job = source._open(source.target)
    text = check(job, job.canonical())
    return Program(Text(text, source.name), source.target)


def layers(program: Union[Program, Path, Text]) -> dict[str, Program]:
    """The layers of a program or a model, by their names.

    A layer is a ``let`` that reduces (a sum, a product of matrices, a softmax)
    or calls an instruction; what it uses of other lets that compute are inputs
    of it.  Each is in the form of :func:`canonical`.
    """
    source = as_program(program)
    job = source._open(source.target)
    return {name: Program(Text(text, name), source.target)
            for name, text in check(job, job.layers())}


def _named(net: Net) -> dict[str, Program]:
    """The layers of all that was given."""
    if isinstance(net, Mapping):
        return {name: canonical(_program_of(part))
                for name, part in net.items()}
    if isinstance(net, Iterable) and not isinstance(net, (str, os.PathLike)):
        parts = [_program_of(part) for part in net]
        return {f"{k} {part.name}": canonical(part)
                for k, part in enumerate(parts)}
    whole = _program_of(net)
    return layers(whole) or {whole.name: canonical(whole)}


def _program_of(part: Any) -> Program:
    return part.program if isinstance(part, Result) else as_program(part)


# ---- machines ----

def _first_line(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=30)
        return done.stdout.partition("\n")[0]
    except (OSError, subprocess.SubprocessError):
        return ""


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            names = [line.partition(":")[2].strip() for line in f
                     if line.startswith(("model name", "Model"))]
        return names[0] if names else platform.processor()
    except OSError:
        return platform.processor()


def machine(cc: Optional[str] = None) -> dict[str, str]:
    """What times depend on: the processor, what glen finds of it, and the
    compiler.  ``id`` is a name of all of it."""
    job = _core.Job()
    check(job, job.target("native", None))
    facts = {"processor": _processor(), "architecture": platform.machine(),
             "target": job.text("target"),
             "compiler": _first_line([*_cache.words_of(cc), "--version"])}
    text = json.dumps(facts, sort_keys=True)
    return {**facts, "id": hashlib.sha256(text.encode()).hexdigest()[:16]}


# ---- one layer, in whatever process ----

@dataclasses.dataclass(frozen=True)
class _Task:
    name: str
    text: str
    target: Union[None, str, Text]
    options: tuple[tuple[str, Any], ...]

    def key(self, on: str) -> str:
        """Of the layer, how it is measured, and on what machine."""
        whole = json.dumps([_core.version, self.text, repr(self.target),
                            self.options], sort_keys=True)
        digest = hashlib.sha256(whole.encode()).hexdigest()[:24]
        return f"{digest}-{on}"


def _measure(task: _Task, key: str, store: Store) -> dict[str, Any]:
    """Times of the candidates go into a file of the store after each run, so
    that one who goes on where another was killed repeats none of them."""
    program = Program(Text(task.text, task.name), task.target)
    job = program._open(task.target)
    check(job, job.lower())
    tuned = check(job, job.tune(file=store.path(key, ".runs"),
                                **dict(task.options)))
    details = json.loads(tuned["json"])
    return {"layer": task.name, "program": task.text,
            "chosen": tuned["chosen"], "script": tuned["script"],
            "wrong": tuned["wrong"], "candidates": details["candidates"]}


def _work(task: _Task, folder: str) -> dict[str, Any]:
    store, here = Store(folder), machine(dict(task.options).get("cc"))
    key = task.key(here["id"])
    with store.lock(key):
        found = store.find(key)
        if found:
            return found
        store.journal("begin", key, task.name)
        found = store.keep(key, {**_measure(task, key, store),
                                 "machine": here})
        store.journal("end", key, task.name)
    return found


# ---- all of them ----

class Tuned:
    """What was measured of one layer."""

    def __init__(self, found: Mapping[str, Any], target: Any,
                 options: Mapping[str, Any]):
        self._found = found
        self._target = target
        self._options = options
        self.key: str = found["key"]
        """The name of its file in the store."""
        self.program = Program(Text(found["program"], found["layer"]), target)
        """The layer that was measured, without names."""
        self.chosen: str = found["chosen"]
        """The name of the fastest schedule."""
        self.script: str = found["script"]
        """Its commands, for ``script=`` of :func:`glen.compile`."""
        self.candidates: list[dict[str, Any]] = found["candidates"]
        """All schedules: name, status, seconds, script."""
        self.machine: dict[str, str] = found["machine"]
        """Where it was measured."""

    def _seconds(self, name: str) -> float:
        times = [c["seconds"] for c in self.candidates if c["name"] == name
                 and c.get("status") == "ok"]
        return times[0] if times else float("nan")

    @property
    def seconds(self) -> float:
        """Of the fastest call of the schedule that was chosen."""
        return self._seconds(self.chosen)

    @property
    def speedup(self) -> float:
        """How many times as fast as the layer as it stands."""
        return self._seconds(self.candidates[0]["name"]) / self.seconds

    def compile(self, **options: Any) -> Kernel:
        """The layer with that schedule; it takes its inputs in the order of
        :attr:`program`."""
        same = {name: self._options[name] for name in ("cc", "flags", "threads")
                if name in self._options}
        script = Text(self.script, f"{self.chosen}.sched")
        return compile(self.program, **{
            "target": self._target, "fusion": "none", "script": script,
            **same, **options})

    def __repr__(self) -> str:
        return (f"<glen.Tuned {self.program.name}: {self.chosen}, "
                f"{self.seconds:.3g} s, {self.speedup:.2f} times as fast>")


def default_store() -> str:
    """``$GLEN_TUNED``, else a folder beside the cache of kernels."""
    return (os.environ.get("GLEN_TUNED") or
            os.path.join(_cache.default_folder(), "tuned"))


def _submit(executor: concurrent.futures.Executor, tasks: Iterable[_Task],
            folder: str) -> dict[str, dict[str, Any]]:
    """By the layer's text.  What is done stays done when one fails, as it is
    in the store; those that wait are given up then."""
    waiting = {task.text: executor.submit(_work, task, folder)
               for task in tasks}
    try:
        return {text: future.result() for text, future in waiting.items()}
    except BaseException:
        for future in waiting.values():
            future.cancel()
        raise


def tune(net: Net, *, executor: Optional[concurrent.futures.Executor] = None,
         store: Optional[Path] = None, target: Target = "native",
         candidates: int = 12, rounds: int = 3, seconds: float = 30,
         tolerance: float = 1e-4, threads: int = 0, seed: int = 1,
         cc: Optional[str] = None, flags: Union[str, Sequence[str]] = ()) -> \
        dict[str, Tuned]:
    """Measures schedules of the layers of a net and gives the fastest of each.

    ``net`` is a program or a model, whose :func:`layers` are meant, or a list
    or a mapping of programs, each one layer.  Layers that are equal but for
    names are measured once.

    ``executor`` is any :class:`concurrent.futures.Executor`: threads,
    processes, or that of another engine, as ``client.get_executor()`` of Dask;
    None: this process.  Workers on one machine disturb each other's times, so
    give each machine one.  All workers write to the folder ``store``, which
    they must see: a file for each layer, named by the layer, the options and
    the machine.  What is there is not measured again, and a worker that is
    killed loses at most the run that it was in.

    ``candidates``, ``rounds``, ``seconds``, ``tolerance``, ``threads``,
    ``seed``, ``cc`` and ``flags`` are the options of ``glen compile --tune``.
    """
    counts(candidates=candidates, rounds=rounds, threads=threads)
    folder = os.path.abspath(os.fspath(store) if store else default_store())
    Store(folder)
    chosen = as_target(target)
    options = {"candidates": candidates, "rounds": rounds, "seconds": seconds,
               "tolerance": tolerance, "threads": threads, "seed": seed,
               "flags": words(flags)}
    if cc is not None:
        options["cc"] = cc
    given = tuple(sorted(options.items()))
    named = _named(net)
    distinct = {program.text: _Task(name, program.text, chosen, given)
                for name, program in reversed(list(named.items()))}
    if executor is None:
        found = {text: _work(task, folder) for text, task in distinct.items()}
    else:
        found = _submit(executor, distinct.values(), folder)
    return {name: Tuned(found[program.text], chosen, options)
            for name, program in named.items()}
