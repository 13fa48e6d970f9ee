# SPDX-License-Identifier: MIT
"""Many calls, many objects, many threads."""
import concurrent.futures
import threading
import time

import glen
import numpy
import pytest
from conftest import MATMUL


def resident():
    """The bytes of memory that this process has."""
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * 4096


def grows_by(work, rounds):
    """The bytes that the rounds add after as many to warm up."""
    for _ in range(rounds):
        work()
    before = resident()
    for _ in range(rounds):
        work()
    return resident() - before


def test_ten_thousand_calls(matmul):
    a, b = numpy.ones((6, 5), "f4"), numpy.ones((5, 4), "f4")
    out = numpy.zeros((6, 4), "f4")

    def work():
        matmul(a, b)
        matmul(a[::-1], b, out=out)
        try:
            matmul(a, a)
        except glen.ArrayError:
            pass
    assert grows_by(work, 10000) < 1 << 20


@pytest.mark.parametrize("limit", [
    {"time_limit": -1}, {"time_limit": float("nan")}, {"memory_limit": -1}])
def test_limits_below_zero_are_refused(limit):
    [name] = limit
    for work in (lambda: glen.saturate(MATMUL, **limit),
                 lambda: glen.prove(MATMUL, MATMUL, **limit)):
        with pytest.raises(ValueError, match=name):
            work()


def test_programs_results_and_errors():
    def work():
        result = glen.saturate(MATMUL, target="systolic16")
        result.report()
        try:
            glen.parse("(output x)")
        except glen.Error:
            pass
    assert grows_by(work, 60) < 4 << 20


def test_kernels_are_freed(tmp_path):
    tmp_path.chmod(0o700)

    def work():
        kernel = glen.compile(MATMUL, cache=tmp_path)
        kernel(numpy.ones((6, 5), "f4"), numpy.ones((5, 4), "f4"))
    assert grows_by(work, 100) < 4 << 20


def test_eight_threads_call_one_kernel(matmul):
    errors = []

    def work(seed):
        random = numpy.random.default_rng(seed)
        for _ in range(500):
            a = random.standard_normal((6, 5)).astype("f4")
            b = random.standard_normal((5, 4)).astype("f4")
            if not numpy.allclose(matmul(a, b), a @ b, rtol=1e-4, atol=1e-5):
                errors.append(seed)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_eight_threads_compile(tmp_path):
    tmp_path.chmod(0o700)

    def work(k):
        n = 3 + k % 4
        kernel = glen.compile(MATMUL.replace("6 5", f"{n} 5"), cache=tmp_path)
        a = numpy.full((n, 5), k, "f4")
        return (kernel(a, numpy.ones((5, 4), "f4")) == 5 * k).all()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_one_result_in_eight_threads():
    result = glen.saturate(MATMUL, target="systolic16")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        reports = set(pool.map(lambda _: result.verify() and result.report(),
                               range(32)))
    assert len(reports) == 1


LONG = """
(tensor a (shape 700 700) f32)
(tensor b (shape 700 700) f32)
(let product
  (compute dotProd (cartProd (access a 1) (transpose (access b 1) (list 1 0)))))
(output product)
"""


def test_the_lock_is_released():
    """While a kernel runs, another thread of Python goes on."""
    kernel = glen.compile(LONG, threads=1)
    a = numpy.ones((700, 700), "f4")
    kernel(a, a)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)
    thread = threading.Thread(target=count)
    thread.start()
    seen = []
    for _ in range(20):
        before = counted[0]
        kernel(a, a)
        seen.append(counted[0] - before)
    done.set()
    thread.join()
    assert max(seen) > 10, seen
