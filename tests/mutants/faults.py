# SPDX-License-Identifier: MIT
"""The planted faults: their lists, and where each one lies."""
import glob
import hashlib
import os
import re

from whole import HERE


class Fault:
    """One entry of a list: a line `# ID` or `# ID equivalent: REASON`, then a
    patch of one hunk."""

    def __init__(self, head, patch):
        self.id, _, why = head.partition(" equivalent: ")
        self.equivalent = why.strip()
        self.digest = hashlib.sha256(patch.encode()).hexdigest()[:8]
        self.path = re.search(r"^\+\+\+ b/(\S+)", patch, re.M)[1]
        self.folder = self.path.split("/")[1]
        begin, body = re.search(r"^@@ -(\d+)[^\n]*@@[^\n]*\n(.*)", patch,
                                re.M | re.S).groups()
        lines = body.removesuffix("\n").split("\n")
        self.begin = int(begin) - 1
        self.old = [x[1:] for x in lines if not x.startswith("+")]
        self.new = [x[1:] for x in lines if not x.startswith("-")]
        self.skip = next(k for k, x in enumerate(lines) if x[:1] in ("+", "-"))

    def place(self, text):
        """The number of the first line that the fault's context matches, the
        nearest to where it was drawn; None where it matches nowhere."""
        lines = text.split("\n")
        found = [k for k in range(len(lines) - len(self.old) + 1)
                 if lines[k:k + len(self.old)] == self.old]
        return min(found, key=lambda k: abs(k - self.begin), default=None)

    def planted(self, text):
        """The text with the fault; None where the fault does not apply."""
        k = self.place(text)
        if k is None:
            return None
        lines = text.split("\n")
        return "\n".join(lines[:k] + self.new + lines[k + len(self.old):])

    def lines(self, root):
        """The numbers, from 1, of the first line of the context, the line that is
        changed and the last one, in the sources below a folder."""
        path = os.path.join(root, self.path)
        if not os.path.exists(path):
            return 0, 0, 0
        with open(path, encoding="utf-8") as f:
            k = self.place(f.read())
        return (0, 0, 0) if k is None else (k + 1, k + self.skip + 1,
                                            k + len(self.old))

    def function(self, root):
        """The numbers of the lines of the function that is changed: what stands
        between two that close one."""
        _, line, _ = self.lines(root)
        if not line:
            return 0, -1
        with open(os.path.join(root, self.path), encoding="utf-8") as f:
            ends = [k + 1 for k, x in enumerate(f) if x.startswith("}")]
        return (max((n for n in ends if n < line), default=0) + 1,
                min((n for n in ends if n >= line), default=line))


def faults(lists=None):
    for path in sorted(glob.glob(lists or os.path.join(HERE, "*.patch"))):
        with open(path, encoding="utf-8") as f:
            parts = re.split(r"^# (.*)\n", f.read(), flags=re.M)[1:]
        for head, patch in zip(parts[::2], parts[1::2]):
            yield Fault(head, patch)
