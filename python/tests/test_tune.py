# SPDX-License-Identifier: MIT
"""Layers told apart and measured, by threads, processes and Dask."""
import concurrent.futures
import json
import os
import signal
import threading
import time

import glen
import numpy
import pytest
from conftest import MATMUL


def layer(n, names="abp"):
    a, b, p = names
    return (f"(tensor {a} (shape {n} 8) f32)\n(tensor {b} (shape 8 8) f32)\n"
            f"(let {p} (compute dotProd (cartProd (access {a} 1)\n"
            f"  (transpose (access {b} 1) (list 1 0)))))\n(output {p})\n")


NET = """
(tensor x (shape 6 8) f32)
(tensor v (shape 8 8) f32)
(tensor w (shape 8 8) f32)
(let first (compute dotProd
  (cartProd (access x 1) (transpose (access v 1) (list 1 0)))))
(let active (compute relu first))
(let second (compute dotProd
  (cartProd (access active 1) (transpose (access w 1) (list 1 0)))))
(let total (compute reduceSum (access second 1)))
(output total)
"""
QUICK = {"candidates": 2, "rounds": 1, "target": None}


def journal(folder):
    with open(os.path.join(folder, "journal.jsonl"), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def results(folder):
    return [n for n in os.listdir(folder) if n.endswith(".json")]


def count(folder, event):
    return [line["key"] for line in journal(folder)
            if line["event"] == event]


def test_canonical_forms():
    same = {glen.canonical(layer(6, names)).text
            for names in ("abp", "xyz", "pba")}
    assert len(same) == 1
    assert glen.canonical(layer(7)).text not in same
    turned = layer(6).split("\n")
    turned[:2] = turned[1::-1]
    assert glen.canonical("\n".join(turned)).text in same
    assert glen.canonical(glen.canonical(layer(6))).text in same


def test_a_canonical_form_is_equal(random):
    program = glen.canonical(MATMUL)
    assert program.inputs == ("x0", "x1") and program.outputs == ("y0",)
    a = random.standard_normal((6, 5)).astype("f4")
    b = random.standard_normal((5, 4)).astype("f4")
    assert (glen.compile(program)(a, b) == glen.compile(MATMUL)(a, b)).all()


def test_layers_of_a_program():
    found = glen.layers(NET)
    assert list(found) == ["first", "second", "total"]
    assert found["first"].text == found["second"].text
    assert "reduceSum" in found["total"].text
    assert "relu" not in "".join(p.text for p in found.values())


def test_views_belong_to_who_uses_them():
    found = glen.layers(NET.replace(
        "(let second (compute dotProd\n  (cartProd (access active 1) "
        "(transpose (access w 1) (list 1 0)))))",
        "(let turned (transpose (access w 1) (list 1 0)))\n"
        "(let second (compute dotProd (cartProd (access active 1) turned)))"))
    assert found["first"].text == found["second"].text


def test_equal_layers_are_measured_once(tmp_path):
    tuned = glen.tune(NET, store=tmp_path, **QUICK)
    assert list(tuned) == ["first", "second", "total"]
    assert tuned["first"].key == tuned["second"].key
    assert len(results(tmp_path)) == len(count(tmp_path, "end")) == 2
    first = tuned["first"]
    assert first.seconds > 0 and first.speedup >= 1
    assert first.chosen in [c["name"] for c in first.candidates]
    assert first.machine["id"] == glen.machine()["id"]
    again = glen.tune(NET, store=tmp_path, **QUICK)
    assert again["total"].seconds == tuned["total"].seconds
    assert len(journal(tmp_path)) == 4


def test_the_machine_and_the_options_are_in_the_key(tmp_path):
    glen.tune(layer(4), store=tmp_path, **QUICK)
    glen.tune(layer(4), store=tmp_path, **dict(QUICK, flags=("-O1",)))
    assert len(results(tmp_path)) == 2
    assert all(glen.machine()["id"] in name for name in results(tmp_path))


def test_the_chosen_schedule_is_compiled(tmp_path, random):
    tuned = glen.tune({"p": layer(64)}, store=tmp_path,
                      **dict(QUICK, candidates=6))["p"]
    a = random.standard_normal((64, 8)).astype("f4")
    b = random.standard_normal((8, 8)).astype("f4")
    numpy.testing.assert_allclose(tuned.compile()(a, b), a @ b, rtol=1e-4,
                                  atol=1e-5)
    for candidate in tuned.candidates:
        kernel = glen.compile(tuned.program, target=None, fusion="none",
                              script=glen.Text(candidate["script"], "s"))
        numpy.testing.assert_allclose(kernel(a, b), a @ b, rtol=1e-4,
                                      atol=1e-5)


def test_threads_and_processes(tmp_path):
    net = [layer(n) for n in (3, 4, 3, 5)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        tuned = glen.tune(net, executor=pool, store=tmp_path, **QUICK)
    assert len(tuned) == 4 and len(results(tmp_path)) == 3
    more = net + [layer(9)]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        tuned = glen.tune(more, executor=pool, store=tmp_path, **QUICK)
    assert len(tuned) == 5
    assert len(count(tmp_path, "end")) == len(results(tmp_path)) == 4


def test_two_at_once_measure_once(tmp_path):
    """Two that tune the same net and know nothing of each other."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        both = [pool.submit(glen.tune, NET, store=tmp_path, **QUICK)
                for _ in range(2)]
        a, b = [future.result() for future in both]
    assert a["first"].seconds == b["first"].seconds
    assert len(count(tmp_path, "begin")) == len(count(tmp_path, "end")) == 2


def test_a_layer_that_fails_loses_no_other(tmp_path):
    with pytest.raises(glen.Error):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            glen.tune([layer(3), layer(4)], executor=pool, store=tmp_path,
                      **dict(QUICK, flags=("-fno-such-flag",)))
    assert results(tmp_path) == []
    assert len(glen.tune([layer(3)], store=tmp_path, **QUICK)) == 1


def test_what_is_damaged_is_measured_again(tmp_path):
    glen.tune([layer(3)], store=tmp_path, **QUICK)
    path = tmp_path / results(tmp_path)[0]
    path.write_text(path.read_text()[:40])
    assert glen.tune([layer(3)], store=tmp_path, **QUICK)
    assert json.loads(path.read_text())["kind"] == "glen-tuned-layer"


def open_layer(folder, process):
    """The key of what a process has begun and not ended, or None."""
    at = None
    for line in journal(folder):
        if line["process"] == process:
            at = line["key"] if line["event"] == "begin" else None
    return at


def kill_one(folder, killed):
    """The worker of the second line of the journal, in the midst of a layer:
    it is stopped first, so that it cannot end the layer meanwhile."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            process = journal(folder)[1]["process"]
            os.kill(process, signal.SIGSTOP)
        except (OSError, ValueError, IndexError):
            time.sleep(0.005)
            continue
        key = open_layer(folder, process)
        os.kill(process, signal.SIGKILL if key else signal.SIGCONT)
        if key:
            killed.append(key)
            return


def test_dask_with_a_worker_that_is_killed(tmp_path):
    """Nothing is lost, and nothing that was measured is measured again."""
    distributed = pytest.importorskip("distributed")
    net = [layer(n) for n in (3, 4, 5, 6, 7, 3, 4)]
    killed = []
    with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True,
            dashboard_address=None, local_directory=str(tmp_path / "dask")) \
            as cluster, distributed.Client(cluster) as client:
        killer = threading.Thread(target=kill_one,
                                  args=(tmp_path / "store", killed))
        killer.start()
        tuned = glen.tune(net, executor=client.get_executor(),
                          store=tmp_path / "store",
                          **dict(QUICK, candidates=4, rounds=2))
        killer.join()
    assert killed and len(tuned) == len(net)
    ends = count(tmp_path / "store", "end")
    assert sorted(ends) == sorted(set(ends)) and len(ends) == 5
    assert len(results(tmp_path / "store")) == 5
    begun = count(tmp_path / "store", "begin")
    # What the one that was killed had begun another began again and finished.
    assert len(begun) > 5 and begun.count(killed[0]) > 1
    assert all(t.seconds > 0 for t in tuned.values())
