# SPDX-License-Identifier: MIT
"""What the numbers were measured on."""
import os
import platform
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
EXTENSIONS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512bw",
              "avx512_vnni", "amx_tile", "amx_bf16", "amx_int8")


def output(*command):
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True,
                              text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def cpu_info():
    info = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            for line in f:
                key, _, value = line.partition(":")
                info.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    return info


def flags():
    return set(cpu_info().get("flags", "").split())


def caches():
    out, folder = [], "/sys/devices/system/cpu/cpu0/cache"
    for index in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        try:
            with open(f"{folder}/{index}/level", encoding="utf-8") as f:
                level = f.read().strip()
            with open(f"{folder}/{index}/type", encoding="utf-8") as f:
                kind = f.read().strip()
            with open(f"{folder}/{index}/size", encoding="utf-8") as f:
                out.append(f"L{level} {kind} {f.read().strip()}")
        except OSError:
            continue
    return out


def first_line(*command):
    return (output(*command).splitlines() or [""])[0]


def package(name):
    return output("dpkg-query", "-W", "-f=${Version}", name)


def describe():
    has = flags()
    return {
        "cpu": cpu_info().get("model name", platform.processor()),
        "cores": len(os.sched_getaffinity(0)),
        "extensions": [x for x in EXTENSIONS if x in has],
        "caches": caches(),
        "kernel": platform.release(),
        "gcc": first_line("gcc", "--version"),
        "clang": first_line("clang", "--version"),
        "openblas": package("libopenblas-dev"),
        "onednn": package("libdnnl-dev"),
        "halide": package("libhalide14-0-dev"),
        "commit": output("git", "rev-parse", "--short=12", "HEAD"),
        "changed": bool(output("git", "status", "--porcelain", "-uno")),
        "load_before": os.getloadavg()[0],
        "command": " ".join(sys.argv),
    }
