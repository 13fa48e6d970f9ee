# SPDX-License-Identifier: MIT
"""Builds the extension over an installed glen, and takes the library and its
data into the package.

The prefix of that glen is GLEN_PREFIX, else what pkg-config knows.
"""
import os
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:  # newer versions of setuptools have it themselves
    from setuptools.command.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("module", "job", "job_options", "job_answers", "job_tune", "kernel",
           "call", "borrow")
# From 3.11 on one wheel serves all later versions.
LIMITED = sys.version_info >= (3, 11)


def prefix():
    """Where glen is installed."""
    named = os.environ.get("GLEN_PREFIX")
    if named:
        return os.path.abspath(named)
    try:
        return subprocess.run(["pkg-config", "--variable=prefix", "glen"],
                              check=True, capture_output=True,
                              text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit("glen is not installed: name its prefix by "
                         "GLEN_PREFIX, or install it where pkg-config looks")


def find(folder, name):
    """The path of a file below the folder."""
    for at, _, names in os.walk(folder):
        if name in names:
            return os.path.join(at, name)
    raise SystemExit(f"{folder} has no {name}: it is no prefix of glen")


def version():
    with open(find(prefix(), "version.h"), encoding="utf-8") as f:
        return re.search(r'GLEN_VERSION +"(.+)"', f.read())[1]


class BuildWithLibrary(build_ext):
    """Beside the extension: the library, the data, the headers."""

    def run(self):
        super().run()
        to = os.path.join(self.build_lib, "glen")
        if self.inplace:
            to = os.path.join(HERE, "src", "glen")
        soname = "libglen.so.1"
        shutil.copy(os.path.realpath(find(prefix(), soname)),
                    os.path.join(to, soname))
        for names in (("share", "glen"), ("include", "glen")):
            shutil.rmtree(os.path.join(to, *names), ignore_errors=True)
            shutil.copytree(os.path.join(prefix(), *names),
                            os.path.join(to, *names))


class StableWheel(bdist_wheel):
    """Says that the extension keeps to the stable interface."""

    def finalize_options(self):
        super().finalize_options()
        if LIMITED:
            self.py_limited_api = "cp311"
        self.root_is_pure = False


def extension():
    library = find(prefix(), "libglen.so")
    return Extension(
        "glen._core", [f"src/core/{name}.c" for name in SOURCES],
        depends=["src/core/core.h", "src/core/kernel.h"],
        include_dirs=[os.path.join(prefix(), "include")],
        library_dirs=[os.path.dirname(library)], libraries=["glen"],
        extra_compile_args=["-std=gnu11", "-O2", "-Wall", "-Wextra",
                            "-Werror=int-conversion", "-fvisibility=hidden"],
        extra_link_args=["-Wl,-rpath,$ORIGIN"],
        define_macros=[("Py_LIMITED_API", "0x030b0000")] if LIMITED else [],
        py_limited_api=LIMITED)


setup(version=version(), ext_modules=[extension()],
      cmdclass={"build_ext": BuildWithLibrary, "bdist_wheel": StableWheel})
