# SPDX-License-Identifier: MIT
"""Programs that the tests share; each session has a cache of its own."""
import os

import numpy
import pytest

MATMUL = """
(tensor a (shape 6 5) f32)
(tensor b (shape 5 4) f32)
(let product
  (compute dotProd (cartProd (access a 1) (transpose (access b 1) (list 1 0)))))
(output product)
"""
TWO = """
(tensor x (shape 3 4) f64)
(let sums (compute reduceSum (access x 1)))
(let tops (compute reduceMax (access x 1)))
(output sums)
(output tops)
"""


def elementwise(dtype, shape="3 4"):
    """x + y, element by element."""
    return (f"(tensor x (shape {shape}) {dtype})\n"
            f"(tensor y (shape {shape}) {dtype})\n"
            "(let sum (compute add (pair x y)))\n(output sum)\n")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    folder.chmod(0o700)
    os.environ["GLEN_CACHE"] = str(folder)
    return folder


@pytest.fixture
def random():
    return numpy.random.default_rng(1)


@pytest.fixture(scope="session")
def matmul():
    import glen
    return glen.compile(MATMUL)
