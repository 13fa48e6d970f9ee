#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Machines with random memories: where values lie, and when calls run, as found
here by brute force.

usage: machines.py GLEN [COUNT [FIRST]]

A machine has a scratchpad and an accumulator of random size, rows, alignment and
banks, and random cycles and queues; it computes a product.  The addresses must be
the lowest that are free, place by place.  A call must begin in the cycle in which
its queue is free, what it reads is written and what it writes is read, and take
what its declaration says.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

GLEN = os.path.abspath(sys.argv[1])
TARGET = """(target m (host (flops-per-cycle 2) (scalar-ops-per-cycle 1))
  (memory pad {pad}) (memory acc {acc}))
(instr load (operands (a (({T}) ({T})) i8)) (result (({T}) ({T})) i8 (in pad))
  (semantics a) (cost (cycles {load})) (queue {q[0]}) (emit "load();"))
(instr begin
  (operands (a (({T}) ({T})) i8 (in pad)) (b (({T}) ({T})) i8 (in pad)))
  (result (({T} {T}) ()) i32 (in acc)) (semantics (compute dotProd (cartProd a b)))
  (cost (cycles {begin})) (queue {q[1]}) (emit "begin();"))
(instr more
  (operands (s (({T} {T}) ()) i32 (in acc)) (a (({T}) ({T})) i8 (in pad))
    (b (({T}) ({T})) i8 (in pad)))
  (result (({T} {T}) ()) i32 (in acc) (onto s))
  (semantics (compute add (pair s (compute dotProd (cartProd a b)))))
  (cost (cycles {more})) (queue {q[1]}) (emit "more();"))
(instr store (operands (a (({T}) ({T})) i32 (in acc))) (result (({T}) ({T})) i32)
  (semantics a) (cost (cycles {store})) (queue {q[2]}) (emit "store();"))
"""
PROGRAM = """(tensor a (shape {m} {k}) i8)
(tensor b (shape {n} {k}) i8)
(let c (compute dotProd (cartProd (compute (cast i32) (access a 1))
  (compute (cast i32) (access b 1)))))
(output c)
"""
BYTES = {"i8": 1, "i32": 4}


class Memory:
    def __init__(self, dice, tile):
        self.row = dice.choice([1, 8, 16, 64])
        self.align = dice.choice([1, 4, 16, 24, 64])
        self.banks = dice.choice([1, 1, 2, 4])
        self.unit = self.row
        while self.unit % self.align:
            self.unit += self.row
        bank = dice.randrange(1, 12) * tile
        if bank % self.row or dice.randrange(3) == 0:
            bank = 4 * self.row * self.align * (
                1 + bank // (self.row * self.align))
        self.bytes = self.banks * bank  # often full to the last byte

    def text(self):
        return f"(bytes {self.bytes}) (row {self.row}) " \
            f"(align {self.align}) (banks {self.banks})"

    def bank(self, at):
        return at // (self.bytes // self.banks)


class Place:
    """An array in a memory, as the loops declare it."""

    def __init__(self, memory, name, dtype, dims, at):
        self.memory, self.name, self.at = memory, name, int(at)
        self.size = BYTES[dtype]
        self.bytes = self.size
        for d in dims.split(", "):
            self.bytes *= sum(map(int, d.split(" pad ")))


def machine(seed):
    dice = random.Random(seed)
    tile = dice.choice([4, 8, 16])
    memories = {"pad": Memory(dice, tile * tile),
                "acc": Memory(dice, 4 * tile * tile)}
    costs = {name: dice.choice([1, 3, tile, 7 * tile, 100])
             for name in ("load", "begin", "more", "store")}
    queues = dice.choice([["load", "compute", "store"], ["io", "unit", "io"],
                          ["one", "one", "one"]])
    target = TARGET.format(T=tile, q=queues, **costs,
                           **{n: m.text() for n, m in memories.items()})
    sizes = {d: tile * dice.randrange(1, 4) for d in "mnk"}
    return memories, costs, target, PROGRAM.format(**sizes)


def call(folder, *words):
    return subprocess.run([GLEN, *words, "--target", "m.target"], cwd=folder,
                          capture_output=True, text=True, timeout=300)


def places_of(loops):
    return [Place(*found) for found in re.findall(
        r"^memory (\w+) (\w+): (\w+)\[(.*)\] at (\d+)$", loops, re.M)]


def meetings(loops):
    """Pairs of names that one call reads."""
    pairs = set()
    for operands in re.findall(r"= call \w+\{[^}]*\}\((.*?)\)(?: where| at|$)",
                               loops, re.M):
        names = re.findall(r"(\w+)\[", operands)
        pairs.update((a, b) for a in names for b in names if a != b)
    return pairs


def lowest(place, memory, before, pairs):
    """The first address that is free, place by place; None where there is none."""
    for at in range(0, memory.bytes - place.bytes + 1, memory.unit):
        end = at + place.bytes
        if memory.bank(at) == memory.bank(end - 1) and not any(
                at < q.at + q.bytes and q.at < end or
                memory.banks > 1 and (place.name, q.name) in pairs and
                memory.bank(at) == memory.bank(q.at)
                for q in before if q.memory == place.memory):
            return at
    return None


def wrong_place(memories, places, pairs):
    for k, p in enumerate(places):
        at = lowest(p, memories[p.memory], places[:k], pairs)
        if p.at != at:
            return f"{p.name} lies at {p.at}, and {at} is the lowest"
    return None


def spans(loops):
    """How many elements a call spans of each array."""
    out = {}
    for name, over in re.findall(r"(\w+)\[[^\]]*\] over \[(.*?)\]", loops):
        out[name] = 1 + sum((int(n) - 1) * int(s) for n, s in
                            re.findall(r"(\d+) by (\d+)", over))
    return out


class Clock:
    """When each unit of each memory, and each array of dram, was used last."""

    def __init__(self, memories, places, lengths):
        self.memories, self.places, self.lengths = memories, places, lengths
        self.read, self.written, self.free, self.busy = {}, {}, {}, {}

    def units(self, operand):
        memory, sign, at = re.match(r"(\w+)([@+])(\d+)$", operand).groups()
        if sign == "+":
            return [(memory, 0)]
        at, row = int(at), self.memories[memory].row
        unit = row if row > 1 else 16
        own = next(p for p in self.places if p.memory == memory and
                   p.at <= at < p.at + p.bytes)
        end = at + self.lengths[own.name] * own.size
        return [(memory, u) for u in range(at // unit, (end - 1) // unit + 1)]

    def wrong(self, line, costs):
        start, end, queue, name, rest = line.split(None, 4)
        reads, result = rest.split(" -> ")
        reads = [u for x in reads.split() for u in self.units(x)]
        writes = self.units(result)
        begin = max([self.free.get(queue, 0),
                     *(self.written.get(u, 0) for u in reads + writes),
                     *(self.read.get(u, 0) for u in writes)])
        # What the host computes is not in the trace.
        if re.match(r"t\d+\+", rest):
            begin = max(begin, int(start))
        done = begin + costs[name]
        if (int(start), int(end)) != (begin, done):
            return f"{line.strip()}: it runs from {begin} to {done}"
        for times, units in ((self.read, reads), (self.written, writes)):
            for u in units:
                times[u] = max(times.get(u, 0), done)
        self.free[queue] = done
        self.busy[queue] = self.busy.get(queue, 0) + costs[name]
        return None


def wrong_times(clock, costs, said):
    lines = [x for x in said.split("\n") if re.match(r" *\d+ +\d+ +\w", x)]
    for line in lines:
        wrong = clock.wrong(line, costs)
        if wrong:
            return wrong
    last = max(clock.free.values(), default=0)
    told = int(re.search(r"^in all +(\d+) cycles", said, re.M)[1])
    host = re.search(r"^queue host ", said, re.M)
    if told < last or told > last and not host:
        return f"{told} cycles in all, not {last}"
    for queue, busy in clock.busy.items():
        share = re.search(rf"^queue {queue} .*busy ([\d.]+) %", said, re.M)
        if abs(float(share[1]) - 100 * busy / told) > 0.051:
            return f"{queue} is busy {busy} of {told} cycles, not {share[1]} %"
    return None


def wrong(seed, folder):
    """What is wrong, and whether the machine was used."""
    memories, costs, target, program = machine(seed)
    for name, text in (("m.target", target), ("p.glen", program)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    done = call(folder, "compile", "p.glen", "--emit", "loops", "-o", "-")
    if re.search(r"\[(no-place|too-small)\]", done.stderr):
        return None, False
    if done.returncode:
        return f"not compiled: {done.stderr}", False
    places = places_of(done.stdout)
    fault = wrong_place(memories, places, meetings(done.stdout))
    if fault:
        return fault, True
    clock = Clock(memories, places, spans(done.stdout))
    done = call(folder, "simulate", "p.glen", "--trace")
    if done.returncode:
        return f"not simulated: {done.stderr}", True
    return places and wrong_times(clock, costs, done.stdout), bool(places)


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failed = used = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            fault, uses = wrong(seed, folder)
            used += uses
            if fault:
                failed += 1
                print(f"FAILED machine {seed}: {fault}")
    # Where the memories are too small, the host computes.
    if used < count // 3:
        failed += 1
        print(f"FAILED: only {used} of {count} machines were used")
    print(f"{count - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
