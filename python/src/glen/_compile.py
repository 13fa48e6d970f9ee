# SPDX-License-Identifier: MIT
"""Programs compiled and loaded into this process."""
from __future__ import annotations

import dataclasses
import os
import shlex
from typing import Any, Mapping, Optional, Sequence, Union

from . import _cache, _core
from ._errors import Error, RefutedError, check
from ._inputs import (Path, Program, RuleSet, Rules, Target, Text, as_program,
                      as_rules, as_target, counts, load_program, read_file,
                      shipped_rules)
from ._kernel import Kernel
from ._saturate import Result, run

Cache = Union[None, bool, str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """All that a kernel is made from; it can be sent to another process."""

    program: Program
    rules: Optional[RuleSet]
    """None: those that come with glen, where the target has instructions."""
    target: Union[None, str, Text]
    verify: bool
    saturate: tuple[tuple[str, Any], ...]
    code: tuple[tuple[str, Any], ...]
    cc: Optional[str]
    flags: tuple[str, ...]
    script: Optional[Text]
    stored: Optional[Program]
    """Whose weights, which stand in files, are bound; None: nobody's."""

    def open(self) -> tuple[Any, bool]:
        """A job that has read all of it; whether there are rules."""
        job = self.program._open(self.target)
        rules = self.rules
        if rules is None:
            rules = RuleSet((shipped_rules(),) if job.is_mapped_to() else ())
        if rules:
            rules.read(job)
        return job, bool(rules)

    def facts(self) -> list:
        """What decides beside the files that a job reads."""
        return [dataclasses.astuple(self.rules) if self.rules else None,
                self.program.__reduce__()[1], self.verify, self.saturate,
                self.code, self.flags, self.script and self.script.text,
                self.stored is not None,
                _cache.compiler_identity(self.cc)]

    def lower(self, job: Any) -> None:
        """To scheduled loops, with weights that are packed once.  The library
        reads a script from a file."""
        code = dict(self.code)
        if self.stored is not None:
            code["prepack"] = job.stored()
        if self.script is None:
            check(job, job.lower(**code))
            return
        import tempfile  # slow to load, and seldom needed
        with tempfile.NamedTemporaryFile("w", suffix=".sched",
                                         encoding="utf-8") as f:
            f.write(self.script.text)
            f.flush()
            check(job, job.lower(script=f.name, **code))


def _rewrite(job: Any, recipe: Recipe) -> Optional[str]:
    """The verdict, where it is asked for."""
    run(job, dict(recipe.saturate))
    if not recipe.verify:
        return None
    verdict = job.verify()
    if verdict == "refuted":
        diagnostics, text, _ = job.diagnostics()
        raise RefutedError(text or "the result is refuted")
    return verdict or check(job, None)


def _build(job: Any, has_rules: bool, recipe: Recipe, threads: int,
           folder: Optional[str]) -> tuple[Kernel, Optional[str]]:
    verdict = _rewrite(job, recipe) if has_rules else None
    recipe.lower(job)
    kernel = job.jit(Kernel, cc=recipe.cc, flags=recipe.flags, threads=threads,
                     cache=folder)
    return check(job, kernel), verdict


def _load(noted: Mapping[str, Any], threads: int) -> Optional[Kernel]:
    """A kernel of the cache; None where it cannot be loaded any more."""
    job = _core.Job()
    return job.load_kernel(Kernel, noted["kernel"], threads)


def _make(recipe: Recipe, threads: int, folder: Optional[str]) -> \
        tuple[Kernel, Optional[str], Any]:
    """The kernel, the verdict, and a job that has read the program and made
    nothing of it, or None."""
    job, has_rules = recipe.open()
    if folder is None:
        return *_build(job, has_rules, recipe, threads, None), None
    key = _cache.key_of(job, recipe.facts())
    noted = _cache.find(folder, key)
    kernel = _load(noted, threads) if noted else None
    if noted and kernel is not None:
        return kernel, noted.get("verdict"), job
    kept = folder if _cache.may_keep(folder) else None
    kernel, verdict = _build(job, has_rules, recipe, threads, kept)
    if kernel.file is not None:
        _cache.note(folder, key, kernel.file, verdict=verdict)
    return kernel, verdict, None


def _weights(recipe: Recipe, job: Any) -> dict[str, Any]:
    """Inputs of the program whose elements stand in files."""
    if recipe.stored is None:
        return {}
    if job is None or recipe.stored is not recipe.program:
        job = recipe.stored._open(recipe.stored.target)
    return check(job, job.data())


def _again(recipe: Recipe, threads: int, cache: Cache,
           bound: Mapping[str, Any]) -> Kernel:
    kernel, verdict, job = _make(recipe, threads, _cache.folder_of(cache))
    return kernel._finish((recipe, threads, cache, bound), verdict,
                          {**_weights(recipe, job), **bound})


def words(flags: Union[str, Sequence[str]]) -> tuple[str, ...]:
    """A text is several flags, as on a command line."""
    return tuple(shlex.split(flags) if isinstance(flags, str) else flags)


def _script_of(script: Union[None, Path, Text]) -> Optional[Text]:
    if script is None or isinstance(script, Text):
        return script
    return read_file(script)


def compile(program: Union[Program, Result, Path, Text], *,
            rules: Rules = (), target: Target = "native",
            params: Optional[Mapping[str, Any]] = None, verify: bool = False,
            saturate: Optional[Mapping[str, Any]] = None,
            strict_fp: bool = False, fusion: Optional[str] = None,
            layout: Optional[str] = None, choose: int = 0,
            script: Union[None, Path, Text] = None, threads: int = 0,
            cache: Cache = None, cc: Optional[str] = None,
            flags: Union[str, Sequence[str]] = (),
            bind: Optional[Mapping[str, Any]] = None,
            weights: bool = True) -> Kernel:
    """Compiles a program by the system's C compiler and loads it.

    ``rules`` as of :func:`glen.saturate`, but none unless they are given or
    the target has instructions, which only rules bring in: then those that
    come with glen.  ``saturate`` holds the options of the saturation; with
    ``verify`` a result that is refuted is not compiled.  A
    :class:`glen.Result` is compiled as it is.

    ``target`` is this machine unless another is named.  ``strict_fp`` keeps
    the order of sums and, with floats, applies only rules that are seen to
    leave each as it is.  ``fusion``, ``layout``, ``choose`` and ``script`` are
    the options of ``glen compile`` (``script``: a path, or a
    :class:`glen.Text`).  ``threads``: how many OpenMP uses, 0 for
    all.  ``cc`` and ``flags``: the compiler (else ``$CC``, else ``cc``) and
    what its command gets in addition.

    ``bind`` gives inputs that are the same in all calls, by their names.
    Inputs whose elements stand in files, as a model's weights do, are read
    once, packed as the kernel reads them, and shared by all calls and threads,
    unless ``weights`` is False.

    What was compiled is kept in a folder, found by the content of the program,
    the rules and the target, all options, the compiler, and the version of
    glen: ``cache`` names the folder, False turns it off.
    """
    none: Optional[RuleSet] = RuleSet()
    if isinstance(program, Result):
        source, stored = program.program, program.input
        chosen, wanted = program.target, none
    else:
        source = stored = as_program(program)
        chosen = as_target(target)
        wanted = None if rules == () else as_rules(rules, params or {})
    code = {"strict_fp": strict_fp, "choose": choose, "fusion": fusion,
            "layout": layout}
    rewriting = dict(saturate or {})
    if strict_fp:
        rewriting["strict_fp"] = True
    counts(choose=choose, threads=threads)
    recipe = Recipe(source, wanted, chosen, verify,
                    tuple(sorted(rewriting.items())),
                    tuple(sorted(code.items())), cc, words(flags),
                    _script_of(script), stored if weights else None)
    return _again(recipe, threads, cache, dict(bind or {}))


def load(path: Path, sizes: Optional[Mapping[str, int]] = None,
         **options: Any) -> Kernel:
    """A model in the ONNX format, or a program with weights, as a callable.

    ``sizes`` gives values to the sizes that a model leaves open, as
    ``{"batch": 1}``.  The options are those of :func:`glen.compile`.
    """
    return compile(load_program(path, sizes), **options)
