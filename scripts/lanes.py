# SPDX-License-Identifier: MIT
"""Steps side by side, each a process of its own.

As many run at a time as there are lanes; a step begins when those it needs have
passed.  What a step prints is shown whole, and in the order of the list,
however they end.
"""
import os
import re
import subprocess
import sys
import tempfile
import time


class Step:
    def __init__(self, function, needs=()):
        self.function, self.needs = function, needs


class Running:
    """A step's process, and the file that it prints to."""

    def __init__(self, name, command):
        self.name, self.begun = name, time.monotonic()
        self.out = tempfile.TemporaryFile("w+", encoding="utf-8",
                                          errors="replace")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=self.out,
                                        stderr=subprocess.STDOUT)

    def finish(self, status, usage):
        """(passed, failed) and the text to show."""
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.out.seek(0)
        lines = self.out.read().splitlines()
        self.out.close()
        last = re.fullmatch(r"(\d+) passed, (\d+) failed",
                            lines.pop() if lines else "")
        passed, failed = map(int, last.groups()) if last else (0, 1)
        if self.process.returncode and not failed:
            failed = 1
        lines.append(f"{self.name}: {passed} passed, {failed} failed "
                     f"({time.monotonic() - self.begun:.0f} s, processor "
                     f"{usage.ru_utime + usage.ru_stime:.0f} s)")
        return passed, failed, "\n".join(lines)


class Board:
    """What waits, runs and is done of the named steps."""

    def __init__(self, steps, names, command):
        self.steps, self.names, self.command = steps, names, command
        self.waiting, self.running, self.done = list(names), {}, {}
        self.shown = 0

    def needs(self, name):
        return [n for n in self.steps[name].needs if n in self.names]

    def leave_out(self):
        """Steps that stand on one that failed."""
        for name in list(self.waiting):
            broken = [n for n in self.needs(name)
                      if n in self.done and self.done[n][1]]
            if broken:
                self.waiting.remove(name)
                self.done[name] = (0, 1, f"{name}: left out, as "
                                   f"{broken[0]} failed")

    def next(self, lanes):
        """The first step that may begin, or None."""
        if len(self.running) >= lanes:
            return None
        return next((name for name in self.waiting
                     if all(n in self.done for n in self.needs(name))), None)

    def begin(self, name):
        self.waiting.remove(name)
        self.running[name] = Running(name, [*self.command, name])

    def wait(self):
        pid, status, usage = os.wait4(-1, 0)
        for name, one in list(self.running.items()):
            if one.process.pid == pid:
                del self.running[name]
                self.done[name] = one.finish(status, usage)

    def show(self):
        while (self.shown < len(self.names) and
               self.names[self.shown] in self.done):
            print(self.done[self.names[self.shown]][2], flush=True)
            self.shown += 1


def run(steps, names, command, lanes):
    """{step: (passed, failed)} of all; `command` NAME runs one step."""
    board = Board(steps, names, command)
    while board.waiting or board.running:
        board.leave_out()
        name = board.next(lanes)
        while name:
            board.begin(name)
            name = board.next(lanes)
        if board.running:
            board.wait()
        board.show()
    board.show()
    return {name: board.done[name][:2] for name in names}


def count():
    """Lanes: one more than there are processors, as most steps wait for what
    they started a tenth to a half of their time; few, as some steps have
    threads of their own."""
    return min(len(os.sched_getaffinity(0)) + 1, 4)
