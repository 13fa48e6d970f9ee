# SPDX-License-Identifier: MIT
"""What the numbers were measured on."""
import os
import platform
import shlex
import subprocess


def first_line(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout.strip().splitlines() or [""])[0]


def field(path, key):
    try:
        with open(path, encoding="utf-8") as f:
            for line in f:
                name, _, value = line.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        pass
    return ""


def describe():
    compiler = shlex.split(os.environ.get("CC", "cc"))
    return {
        "cpu": field("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "cache": field("/proc/cpuinfo", "cache size"),
        "memory": field("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "compiler": first_line([*compiler, "--version"]),
        "commit": first_line(["git", "-C", os.path.dirname(__file__) or ".",
                              "rev-parse", "--short=12", "HEAD"]),
        "load": os.getloadavg(),
    }


def line(m):
    return (f"{m['cpu']}, {m['cores']} cores, {m['memory']}, "
            f"Linux {m['kernel']}, {m['compiler']}, commit {m['commit']}, "
            f"load {m['load'][0]:.1f}")
