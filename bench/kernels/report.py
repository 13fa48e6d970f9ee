# SPDX-License-Identifier: MIT
"""Tables of the kernel benchmark: one of times, one of ratios."""
import math
import statistics


def seconds_of(turns, clock):
    """Seconds a call: the median over the turns of the fastest of each."""
    column = 1 if clock == "cpu" else 0
    return statistics.median(turn[column] for turn in turns)


def least(turns, clock):
    """Seconds a call of the fastest turn."""
    return min(turn[1 if clock == "cpu" else 0] for turn in turns)


def least_of(result, clock):
    """peer -> seconds a call of its fastest turn, whatever its setting."""
    out = {}
    for label, turns in result["turns"].items():
        peer, seconds = label.split(" ", 1)[0], least(turns, clock)
        out[peer] = min(seconds, out.get(peer, seconds))
    return out


def best(workers, clock):
    """peer -> (seconds, worker) of the setting that does best."""
    out = {}
    for worker in workers:
        if worker.error or not worker.turns:
            continue
        seconds = seconds_of(worker.turns, clock)
        if worker.peer not in out or seconds < out[worker.peer][0]:
            out[worker.peer] = (seconds, worker)
    return out


def human(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    return ""


def rows_of(results, figures="seconds"):
    """A row a problem, and one a group of which problems are counted several
    times (a network's layers), of medians or of "least" seconds."""
    rows, sums = [], {}
    for r in results:
        rows.append((r["problem"], r["threads"], r["flops"], r[figures]))
        if r["group"] == "resnet50":
            key = ("resnet50, {} of 53 layers", r["threads"])
            total = sums.setdefault(key, [0, 0, {}, 0])
            total[0] += r["times"]
            total[1] += r["flops"] * r["times"]
            total[3] += 1
            for peer, seconds in r[figures].items():
                times = total[2].setdefault(peer, [])
                times.append(seconds * r["times"])
    for (name, threads), (layers, flops, peers, shapes) in sums.items():
        whole = {peer: sum(times) for peer, times in peers.items()
                 if len(times) == shapes}
        if shapes > 1:
            rows.append((name.format(layers), threads, flops, whole))
    return rows


def table(results, peers, width=16):
    """Times and GFLOP/s of each peer."""
    lines = [f"{'problem':24} T " + "".join(f"{p:>{width}}" for p in peers)]
    for name, threads, flops, seconds in rows_of(results):
        cells = ""
        for peer in peers:
            text = "-"
            if peer in seconds:
                s = seconds[peer]
                text = human(s)
                if flops:
                    text += f" {flops / s * 1e-9:.3g}"
            cells += f"{text:>{width}}"
        lines.append(f"{name:24} {threads} {cells}")
    lines.append("(time, GFLOP/s)")
    return "\n".join(lines)


def saturated(results, prefix):
    """Lines that say where a peer did best with the program as the rules left
    it, of those where they changed it."""
    best, changed = {}, {}
    for r in results:
        name = f"{r['problem']} (T {r['threads']})"
        for peer, setting in r["settings"].items():
            if f"{peer} saturated" not in r.get("compile_s", {}):
                continue
            changed[peer] = changed.get(peer, 0) + 1
            if setting.startswith(prefix):
                best.setdefault(peer, []).append(name)
    return [f"{peer}: saturated in {len(best.get(peer, []))} of {n} where rules "
            f"change the program: {', '.join(best.get(peer, ['none']))}"
            for peer, n in sorted(changed.items())]


def left_out(results, what):
    """Lines that say which peer has no figure, why, and for what."""
    names = {}
    for r in results:
        for peer, reason in r.get(what, []):
            key = (peer, r["threads"], reason.replace(r["problem"], "..."))
            names.setdefault(key, []).append(r["problem"])
    out = []
    for (peer, threads, reason), where in sorted(names.items()):
        short = ", ".join(where[:4])
        if len(where) > 4:
            short += f" and {len(where) - 4} more"
        out.append(f"{peer} with {threads} thread{'s' * (threads > 1)}: "
                   f"{reason} ({short})")
    return out


def mean_of(ratios):
    """Geometric, as text; "-" of none."""
    if not ratios:
        return "-"
    return f"{math.exp(statistics.fmean(map(math.log, ratios))):.3g}x"


def ratios(results, peers, ours="glen", width=16):
    """How many times faster ours is than each peer, by the median turn and by
    the fastest one; below 1 it is slower."""
    others = [p for p in peers if p != ours]
    lines = [f"{'speed of ' + ours + ' over':24} T " +
             "".join(f"{p:>{width}}" for p in others)]
    every = {p: [] for p in others}
    for (name, threads, _, seconds), (*_, fastest) in zip(
            rows_of(results), rows_of(results, "least")):
        if ours not in seconds:
            continue
        cells = ""
        for peer in others:
            text = "-"
            if peer in seconds:
                ratio = seconds[peer] / seconds[ours]
                text = f"{ratio:.3g}x ({fastest[peer] / fastest[ours]:.3g})"
                if " layers" not in name:
                    every[peer].append(ratio)
            cells += f"{text:>{width}}"
        lines.append(f"{name:24} {threads} {cells}")
    lines.append(f"{'geometric mean':24}   " +
                 "".join(f"{mean_of(e):>{width}}" for e in every.values()))
    lines.append("(by the median turn, in brackets by the fastest of all)")
    return "\n".join(lines)
