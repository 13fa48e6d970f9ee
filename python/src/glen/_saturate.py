# SPDX-License-Identifier: MIT
"""Saturation: programs rewritten by rules."""
from __future__ import annotations

import json
from typing import Any, Callable, Mapping, Optional, Union

from ._errors import check
from ._inputs import (Path, Program, Rules, Target, Text, as_program, as_rules,
                      as_target, counts)

_UNSET: Any = object()

Progress = Callable[[int, int, int, float], Any]


class Result:
    """What a saturation gave: the program of the least cost that was found."""

    def __init__(self, job: Any, program: Program,
                 target: Union[None, str, Text]):
        self._job = job
        self._summary = job.summary()
        self.input = program
        """The program that was rewritten."""
        self.target = target
        """The target that costs are of."""
        self.program = Program(Text(job.text("result"), program.name), target)
        """The extracted program."""

    @property
    def stop(self) -> str:
        """Why it ended: ``"saturated"``, ``"node limit"``, ..."""
        return self._summary["stop"]

    @property
    def saturated(self) -> bool:
        """True where no limit was hit."""
        return self._summary["saturated"]

    @property
    def cost_before(self) -> float:
        """The cost of the input, in cycles of the target."""
        return self._summary["cost_before"]

    @property
    def cost(self) -> float:
        """The cost of the extracted program."""
        return self._summary["cost_after"]

    @property
    def summary(self) -> dict[str, Any]:
        """All figures: iterations, nodes, classes, seconds, costs, bound."""
        return dict(self._summary)

    def verify(self) -> str:
        """Is the extracted program equal to the input for every input?

        ``"proved"``, ``"tested"``, ``"refuted"`` or ``"unknown"``.
        """
        return self._job.verify() or check(self._job, None)

    def report(self) -> str:
        """The report that ``glen saturate`` prints."""
        return self._job.text("report")

    def to_dict(self) -> dict[str, Any]:
        """The report as ``glen saturate --json`` gives it."""
        return json.loads(self._job.text("json"))

    def proof(self) -> str:
        """The proof as text that ``glen-check-proof`` reads; the saturation
        must have had ``explain=True``."""
        return check(self._job, self._job.text("proof"))

    def __repr__(self) -> str:
        return (f"<glen.Result cost {self.cost:g}, was {self.cost_before:g}: "
                f"{self.stop}>")


def run(job: Any, options: Mapping[str, Any],
        progress: Optional[Progress] = None) -> None:
    """Saturates what the job has read."""
    given = {name: value for name, value in options.items()
             if value is not None}
    counts(**{name: value for name, value in given.items()
              if name in ("iterations", "nodes")})
    if "disabled" in given:
        given["disabled"] = tuple(given["disabled"])
    check(job, job.saturate(progress=progress, **given))


def saturate(program: Union[Program, Path, Text], rules: Rules = None,
             target: Target = _UNSET, *,
             params: Optional[Mapping[str, Any]] = None,
             progress: Optional[Progress] = None, time_limit: float = 0,
             memory_limit: int = 0, **options: Any) -> Result:
    """Rewrites a program by rules and takes the cheapest that was found.

    ``rules`` are names or paths of files or folders, texts of rules, or a
    list of these; None: those that come with glen, ``"none"``: none.  The
    instructions of ``target`` give rules of their own.  ``params`` are values
    of parameters of the rule files.

    ``progress(iteration, nodes, classes, seconds)`` is called after each
    iteration; what it raises ends the run.  ``time_limit`` (seconds) and
    ``memory_limit`` (bytes) bound the whole; further options bound the
    search: ``iterations``, ``nodes``, ``seconds``, ``bytes``, ``matches``
    (of each rule), ``work``, ``backoff``, ``strategy``, ``disabled`` (names of
    rules), ``extractor`` (``"tree"``, ``"dag"``, ``"exact"``, ``"ilp"``),
    ``explain`` (which :meth:`Result.proof` needs) and ``strict_fp`` (with
    floats, only rules that are seen to leave each as it is).
    """
    source = as_program(program)
    chosen = source.target if target is _UNSET else as_target(target)
    job = source._open(chosen, time_limit, memory_limit)
    as_rules(rules, params or {}).read(job)
    run(job, options, progress)
    return Result(job, source, chosen)
