# SPDX-License-Identifier: MIT
"""The folder of kernels: what is found again, and what is not."""
import json
import os
import subprocess
import sys
import warnings

import glen
import numpy
import pytest
from conftest import MATMUL, elementwise

from glen import _cache


@pytest.fixture
def folder(tmp_path):
    tmp_path.chmod(0o700)
    return tmp_path


def names(folder, end):
    return sorted(n for n in os.listdir(folder) if n.endswith(end))


def said_unkept(**environment):
    """What a process says that runs its kernel, but cannot keep it."""
    done = subprocess.run(
        [sys.executable, "-c", f"import glen\nk = glen.compile({MATMUL!r})\n"
         "print(k.cached, k.file)"],
        env={**os.environ, **environment}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "False None\n"), done.stderr
    return done.stderr


def test_no_place_for_a_cache(tmp_path):
    beside = tmp_path / "a-file"
    beside.write_text("")
    assert "a-file" in said_unkept(GLEN_CACHE=str(beside / "glen"))
    # As of a user whom the system does not know.
    assert "no home folder" in said_unkept(GLEN_CACHE="", HOME="~",
                                           XDG_CACHE_HOME="")


@pytest.mark.parametrize("base, folder", [
    ("/var/cache", "/var/cache/glen"), ("", "/there/.cache/glen"),
    ("caches", "/there/.cache/glen"), ("./caches", "/there/.cache/glen")])
def test_the_default_folder(base, folder, monkeypatch):
    """A relative path in XDG_CACHE_HOME counts as none."""
    monkeypatch.delenv("GLEN_CACHE", raising=False)
    monkeypatch.setenv("HOME", "/there")
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert _cache.default_folder() == folder


def test_a_folder_that_is_only_read(folder, monkeypatch):
    kept = glen.compile(MATMUL, cache=folder)
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert glen.compile(MATMUL, cache=str(folder)).file == kept.file
    with pytest.warns(glen.GlenWarning, match="cannot be written to"):
        assert glen.compile(elementwise("f64"), cache=str(folder)).file is None


def test_found_again(folder):
    first = glen.compile(MATMUL, cache=folder)
    again = glen.compile(MATMUL, cache=folder)
    assert not first.cached and again.cached
    assert first.file == again.file
    assert len(names(folder, ".so")) == len(names(folder, ".json")) == 1


def test_no_cache(folder):
    kernel = glen.compile(MATMUL, cache=False)
    assert kernel.file is None and not kernel.cached


@pytest.mark.parametrize("other", [
    {"program": MATMUL.replace("6 5", "7 5")}, {"strict_fp": True},
    {"flags": ("-O1",)}, {"target": None}, {"rules": None},
    {"cc": "gcc"}])
def test_what_decides_is_in_the_key(folder, other):
    glen.compile(MATMUL, cache=folder)
    glen.compile(**{"program": MATMUL, "cache": folder, **other})
    assert len(names(folder, ".json")) == 2


def test_threads_do_not_decide(folder):
    glen.compile(MATMUL, cache=folder, threads=1)
    assert glen.compile(MATMUL, cache=folder, threads=2).cached


def test_a_rule_file_that_changed(folder):
    rules = folder / "own.rules"
    rules.write_text('(rule one "One." (transpose (transpose ?a (list 1 0)) '
                     '(list 1 0)) => ?a)\n')
    glen.compile(MATMUL, rules=rules, cache=folder)
    assert glen.compile(MATMUL, rules=rules, cache=folder).cached
    rules.write_text(rules.read_text().replace("one", "two"))
    glen.compile(MATMUL, rules=rules, cache=folder)
    assert len(names(folder, ".json")) == 2


def test_what_is_damaged_is_made_again(folder):
    kernel = glen.compile(MATMUL, cache=folder)
    index = os.path.join(folder, names(folder, ".json")[0])
    with open(index, "w") as f:
        f.write("{")
    assert glen.compile(MATMUL, cache=folder).file == kernel.file
    with open(index) as f:
        assert json.load(f)["kernel"]
    path = kernel.file
    del kernel
    os.unlink(path)
    assert not glen.compile(MATMUL, cache=folder).cached


def test_no_shared_object_of_a_kernel(folder):
    """What lies at its place but is none is compiled again."""
    kernel = glen.compile(MATMUL, cache=folder)
    path = kernel.file
    del kernel
    with open(path + ".new", "w") as f:
        f.write("no shared object")
    os.replace(path + ".new", path)
    a = numpy.ones((6, 5), "f4")
    assert (glen.compile(MATMUL, cache=folder)(a, a[:5, :4]) == 5).all()


def test_a_folder_that_others_may_write_to(folder):
    glen.compile(MATMUL, cache=folder)
    folder.chmod(0o777)
    with pytest.raises(glen.Error) as caught:
        glen.compile(elementwise("i32", "2"), cache=folder)
    assert caught.value.code == "open-cache"


def test_a_write_that_fails_leaves_the_old(folder):
    path = str(folder / "x.json")
    _cache.write_atomically(path, {"a": 1})
    with pytest.raises(TypeError):
        _cache.write_atomically(path, {"a": object()})
    with open(path) as f:
        assert json.load(f) == {"a": 1}
    assert os.listdir(folder) == ["x.json"]


def test_no_compiler():
    with pytest.raises(glen.CompilerError) as caught:
        glen.compile(MATMUL, cc="no-such-compiler", cache=False)
    assert caught.value.code == "no-compiler"
    assert "CC" in caught.value.hint


def test_a_compiler_that_fails():
    with pytest.raises(glen.CompilerError) as caught:
        glen.compile(MATMUL, flags="-O1 -fno-such-flag", cache=False)
    assert caught.value.code == "compile-failed"
    assert "-fno-such-flag" in str(caught.value)


def test_a_new_process_is_quick(folder):
    """All that a new interpreter does up to the first result, in seconds of
    the processor: a clock on the wall would tell what else the machine does."""
    glen.compile(MATMUL, cache=folder)
    script = ("import sys, time, numpy, glen\n"
              "kernel = glen.compile(sys.argv[1], cache=sys.argv[2])\n"
              "assert kernel.cached\n"
              "a = numpy.ones((6, 5), 'f4')\n"
              "assert (kernel(a, a[:5, :4].copy()) == 5).all()\n"
              "print(time.process_time())\n")
    times = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", script, MATMUL,
                               str(folder)], capture_output=True, text=True,
                              check=True)
        times.append(float(done.stdout))
    assert min(times) < 1, times
