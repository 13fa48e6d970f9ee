"""Worker processes of the kernel benchmark (peers/worker.c) and their turns.

Every implementation of a problem is a process of its own, so that thread pools
and run-time libraries do not meet.  The processes live side by side and are
asked in turn: each round asks each of them once, so that a change of the
machine falls on all of them.
"""
import os
import subprocess
import time

PAUSE = 0.04  # seconds before a turn: idle threads of others fall asleep


class Failed(Exception):
    """A worker that cannot do its problem, or died."""


def cpus_for(threads):
    """The last CPUs this process may use: the first ones serve interrupts."""
    return sorted(os.sched_getaffinity(0))[-threads:]


class Worker:
    """peer, setting: names; command: the program; threads: its team."""

    def __init__(self, peer, setting, command, threads, problem, variant="",
                 env=()):
        self.peer, self.setting, self.threads = peer, setting, threads
        self.turns = []  # (wall, cpu) of the fastest call of each turn
        self.error = None
        self.problem = problem
        cpus = cpus_for(threads)
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads),
                           OPENBLAS_NUM_THREADS=str(threads),
                           HL_NUM_THREADS=str(threads), OMP_DYNAMIC="false",
                           **dict(env))
        low, high = problem.range
        arguments = [
            "--kind", problem.kind, "--variant", variant,
            "--threads", str(threads),
            "--sizes", ",".join(map(str, problem.sizes.values())),
            "--in", ",".join(map(str, problem.inputs)),
            "--out", ",".join(map(str, problem.outputs)),
            "--range", f"{low},{high}"]
        self.process = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.read()

    def read(self):
        line = self.process.stdout.readline()
        if line.startswith("ok"):
            return [float(x) for x in line.split()[1:]]
        self.close()
        raise Failed(line[7:].strip() or
                     f"the process ended with {self.process.returncode}")

    def ask(self, command):
        try:
            self.process.stdin.write(command + "\n")
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
