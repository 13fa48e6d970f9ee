# SPDX-License-Identifier: MIT
"""Worker processes of the kernel benchmark (peers/worker.c) and their turns.

Every implementation of a problem is a process of its own, so that thread pools
and run-time libraries do not meet.  The processes live side by side and are
asked in turn: each round asks each of them once, so that a change of the
machine falls on all of them.
"""
import os
import select
import subprocess
import time

PAUSE = 0.04  # seconds before a turn: idle threads of others fall asleep
LONGEST = 120  # seconds that a worker may take to start, or for an answer

# What would change how a peer works: each is to choose for itself.
SETTINGS = ("OPENBLAS_", "OMP_", "GOMP_", "KMP_", "HL_", "DNNL_", "ONEDNN_",
            "MKL_", "GOTO_", "BLIS_", "LD_PRELOAD", "MALLOC_")


class Failed(Exception):
    """A worker that cannot do its problem, takes too long, or died."""


def environment(threads, more):
    out = {k: v for k, v in os.environ.items() if not k.startswith(SETTINGS)}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "HL_NUM_THREADS"):
        out[name] = str(threads)
    return out | {"OMP_DYNAMIC": "false"} | dict(more)


def cpus_for(threads):
    """The last CPUs this process may use: the first ones serve interrupts."""
    return sorted(os.sched_getaffinity(0))[-threads:]


class Worker:
    """peer, setting: names; command: the program; threads: its team."""

    def __init__(self, peer, setting, command, threads, problem, variant="",
                 env=(), longest=LONGEST):
        self.peer, self.setting, self.threads = peer, setting, threads
        self.turns = []  # (wall, cpu) of the fastest call of each turn
        self.error = None
        self.problem = problem
        cpus = cpus_for(threads)
        self.longest, self.waiting = longest, b""
        low, high = problem.range
        arguments = [
            "--kind", problem.kind, "--variant", variant,
            "--threads", str(threads),
            "--sizes", ",".join(map(str, problem.sizes.values())),
            "--in", ",".join(map(str, problem.inputs)),
            "--out", ",".join(map(str, problem.outputs)),
            "--range", f"{low},{high}", "--types", ",".join(problem.types)]
        self.process = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(threads, env),
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.read()

    def line(self):
        """What the worker says next; None when it takes too long."""
        end = time.monotonic() + self.longest
        out = self.process.stdout
        while b"\n" not in self.waiting:
            left = end - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                return None
            more = os.read(out.fileno(), 1 << 16)
            if not more:
                break
            self.waiting += more
        line, _, self.waiting = self.waiting.partition(b"\n")
        return line.decode(errors="replace")

    def read(self):
        line = self.line()
        if line is None:
            self.process.kill()
            self.close()
            raise Failed(f"no answer in {self.longest:g} s")
        if line.startswith("ok"):
            return [float(x) for x in line.split()[1:]]
        self.close()
        raise Failed(line[7:].strip() or
                     f"the process ended with {self.process.returncode}")

    def ask(self, command):
        try:
            self.process.stdin.write(f"{command}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.read()

    def time(self, calls):
        """(wall, cpu) of each call."""
        time.sleep(PAUSE)
        numbers = self.ask(f"time {calls}")
        return list(zip(numbers[0::2], numbers[1::2]))

    def turn(self, seconds):
        """One turn of about so long: its fastest call."""
        first = min(self.time(1))
        calls = max(1, min(200, int(seconds / max(first[0], 1e-7))))
        best = min(self.time(calls) + [first])
        self.turns.append(best)

    def close(self):
        if self.process.stdin and not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
