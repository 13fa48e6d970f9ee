# SPDX-License-Identifier: MIT
"""The folder of what was measured, shared by all that measure.

Each result is a file of its own, named by what was measured, how, and on what
machine; it is written beside its place and renamed.  Who measures holds a lock,
which goes with its process, and looks for the result again when it has it: so
nothing is measured twice, whoever is killed.  A journal says who measured what.
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
from typing import Any, Iterator, Optional

from ._cache import write_atomically

KIND, SCHEMA = "glen-tuned-layer", 1


class Store:
    """One folder, which all workers see."""

    def __init__(self, folder: str):
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)

    def path(self, key: str, end: str) -> str:
        return os.path.join(self.folder, f"{key}{end}")

    def find(self, key: str) -> Optional[dict[str, Any]]:
        """What was measured; None where nothing whole is there."""
        try:
            with open(self.path(key, ".json"), encoding="utf-8") as f:
                found = json.load(f)
        except (OSError, ValueError):
            return None
        whole = isinstance(found, dict) and found.get("kind") == KIND and \
            found.get("schema") == SCHEMA and found.get("key") == key
        return found if whole else None

    def keep(self, key: str, found: dict[str, Any]) -> dict[str, Any]:
        """Puts it there, whole; what is there now."""
        whole = {"schema": SCHEMA, "kind": KIND, "key": key, **found}
        write_atomically(self.path(key, ".json"), whole)
        return whole

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Held by one process; the system opens it when that ends."""
        with open(self.path(key, ".lock"), "a", encoding="utf-8") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            yield

    def journal(self, event: str, key: str, name: str) -> None:
        """One line, which no other writer's line meets."""
        line = json.dumps({"event": event, "key": key, "name": name,
                           "host": socket.gethostname(), "process": os.getpid(),
                           "time": time.time()}) + "\n"
        handle = os.open(os.path.join(self.folder, "journal.jsonl"),
                         os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)
