# SPDX-License-Identifier: MIT
"""The folder of compiled kernels, found by all that they were made from.

A kernel is kept as a shared object, which libglen names by its C text and the
compiler's command.  What leads there from a program, its rules and its options
is a small file of this module's.  Each is written beside its place and renamed,
so that readers see a whole one or none.
"""
from __future__ import annotations

import hashlib
import json
import os
import shlex
import warnings
from typing import Any, Optional

from . import _core
from ._errors import GlenWarning

_FORMAT = 1


def default_folder() -> str:
    """``$GLEN_CACHE``, else ``glen`` in the user's folder of caches."""
    named = os.environ.get("GLEN_CACHE")
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # which the XDG specification has us ignore
        base = os.path.expanduser("~/.cache")
    if not named and not os.path.isabs(base):
        raise FileNotFoundError("this user has no home folder")
    return named or os.path.join(base, "glen")


def folder_of(cache: Any) -> Optional[str]:
    """None and True: the default, if there can be one; False: no cache."""
    if cache is False:
        return None
    default = cache is None or cache is True
    try:
        folder = default_folder() if default else os.fspath(cache)
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        if not default:
            raise
        _warn_unkept(str(error))
        return None
    return folder


def may_keep(folder: str) -> bool:
    """Whether kernels can be added to those that the folder has."""
    if os.access(folder, os.W_OK | os.X_OK):
        return True
    _warn_unkept(f"{folder} cannot be written to")
    return False


def _warn_unkept(why: str) -> None:
    warnings.warn(GlenWarning(f"a kernel is not kept: {why} (GLEN_CACHE names "
                              "a folder, cache=False does without)"),
                  stacklevel=6)


def words_of(cc: Optional[str]) -> list[str]:
    """The command of the compiler: it may have options."""
    return shlex.split(cc or os.environ.get("CC") or "cc")


def compiler_identity(cc: Optional[str]) -> list:
    """What a compiler that was replaced by another differs in."""
    words = words_of(cc)
    path = _program(words[0]) if words else None
    if path is None:
        return words
    status = os.stat(path)
    return [*words, os.path.realpath(path), status.st_size, status.st_mtime_ns]


def _program(word: str) -> Optional[str]:
    """Where the system finds a program.  shutil.which does the same, but its
    module loads every compression that Python has."""
    folders = [""] if os.sep in word else os.get_exec_path()
    for folder in folders:
        path = os.path.join(folder, word)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _hash_of(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def key_of(job: Any, facts: Any) -> str:
    """Of everything that the job has read, and of what else decides."""
    files = [[path, _hash_of(path)] for path in job.files()
             if os.path.isfile(path)]
    whole = json.dumps([_FORMAT, _core.version, files, job.text("target"),
                        facts], sort_keys=True, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()


def write_atomically(path: str, data: Any) -> None:
    """JSON at its place, whole, whatever others do there."""
    import tempfile  # costs more than finding a kernel, which needs none
    handle, beside = tempfile.mkstemp(dir=os.path.dirname(path) or ".",
                                      prefix=os.path.basename(path) + ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as f:
            json.dump(data, f)
            f.flush()
            os.fsync(f.fileno())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _index(folder: str, key: str) -> str:
    return os.path.join(folder, f"index-{key}.json")


def find(folder: str, key: str) -> Optional[dict[str, Any]]:
    """What was noted of a kernel whose file is still there."""
    try:
        with open(_index(folder, key), encoding="utf-8") as f:
            noted = json.load(f)
        path = os.path.join(folder, os.path.basename(noted["kernel"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(noted, kernel=path) if os.path.isfile(path) else None


def note(folder: str, key: str, kernel: str, **more: Any) -> None:
    """That the key leads to this file of the folder."""
    write_atomically(_index(folder, key),
                     dict(more, kernel=os.path.basename(kernel)))
