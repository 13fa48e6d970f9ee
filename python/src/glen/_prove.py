# SPDX-License-Identifier: MIT
"""Proofs: of two programs, and of rules."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from . import _core
from ._errors import check
from ._inputs import (Path, Program, RuleSet, Rules, Target, Text, as_program,
                      as_rules, as_target, read_target)

if TYPE_CHECKING:
    import concurrent.futures


class Proof:
    """What the prover says; true where it proved what was asked."""

    verdict: str
    """``"proved"``, ``"refuted"`` or ``"unknown"``; of a rule ``"checked"``
    (on the shapes looked at) and ``"tested"``, too."""
    reason: str
    """Why, in a line."""
    text: str
    """The verdict, its reason, and the input that refutes."""

    def __init__(self, verdict: str, reason: str, text: str, facts: str):
        self.verdict = verdict
        self.reason = reason
        self.text = text
        self._facts = facts

    @property
    def refuted(self) -> bool:
        """Does some input show that it is wrong?"""
        return self.verdict == "refuted"

    def to_dict(self) -> dict[str, Any]:
        """All that is known, as ``--json`` of the command line gives it."""
        return json.loads(self._facts)

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<glen.{type(self).__name__} {self.verdict}: {self.reason}>"


class RuleProof(Proof):
    """What the prover says of a rule."""

    def __init__(self, place: str, detail: str, facts: str):
        known = json.loads(facts)
        self.rule: str = known["rule"]
        """Its name."""
        self.place = place
        """The file and the line that it stands in."""
        self.all_sizes: bool = known["all_sizes"]
        """Is it proved for all sizes, not for some shapes alone?"""
        verdict, reason = known["verdict"], known["reason"]
        text = f"{self.rule}: {verdict}: {reason}\n{detail}".rstrip()
        super().__init__(verdict, reason, text, facts)

    def __repr__(self) -> str:
        return f"<glen.RuleProof {self.rule} {self.verdict}: {self.reason}>"


def prove(a: Union[Program, Path, Text], b: Union[Program, Path, Text], *,
          target: Target = None, time_limit: float = 0,
          memory_limit: int = 0) -> Proof:
    """Are two programs equal for every input?

    They must have the same inputs, and outputs of the same types.  Equality is
    that of exact arithmetic.
    """
    first, second = as_program(a), as_program(b)
    chosen = as_target(target)
    if chosen is None:
        chosen = first.target if first.target is not None else second.target
    job = first._open(chosen, time_limit, memory_limit)
    second.read(job, 1)
    text, facts = check(job, job.prove())
    known = json.loads(facts)
    return Proof(known["answer"], known["reason"], text, facts)


def _open_rules(rules: RuleSet, target: Union[None, str, Text]) -> Any:
    job = _core.Job()
    read_target(job, target)
    rules.read(job)
    return job


def _prove_some(rules: RuleSet, target: Union[None, str, Text],
                which: tuple[int, ...], options: tuple) -> list[tuple]:
    """In whatever process: the parts of the proofs of these rules."""
    job = _open_rules(rules, target)
    return [job.prove_rule(k, *options) for k in which]


def prove_rules(rules: Rules = None, target: Target = None, *,
                params: Optional[Mapping[str, Any]] = None,
                filter: str = "", shapes: int = 0, seed: int = 1,
                executor: Optional[concurrent.futures.Executor] = None) -> \
        list[RuleProof]:
    """Is each of the rules sound?

    ``rules`` and ``target`` are as of :func:`glen.saturate`; ``filter``: only
    those whose name contains it.  ``shapes``: how many each is looked at on;
    0: as many as the command line does.  With an executor the rules are
    proved by its workers, which must see the same files.
    """
    chosen, read = as_target(target), as_rules(rules, params or {})
    job = _open_rules(read, chosen)
    check(job, True)
    which = [k for k, name in enumerate(job.rule_names()) if filter in name]
    options = (seed, shapes) if shapes else (seed,)
    if executor is None:
        return [RuleProof(*job.prove_rule(k, *options)) for k in which]
    waiting = [executor.submit(_prove_some, read, chosen, (k,), options)
               for k in which]
    return [RuleProof(*part) for each in waiting for part in each.result()]
