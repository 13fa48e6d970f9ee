# SPDX-License-Identifier: MIT
"""Models in the ONNX format, and programs whose weights stand in files."""
import concurrent.futures
import os
import pickle
import sys

import glen
import numpy
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "onnx"))
import encode  # noqa: E402


@pytest.fixture
def weights(random):
    return random.standard_normal((5, 4)).astype("f4")


@pytest.fixture
def path(tmp_path, weights):
    """relu(x w) with a batch that is open."""
    nodes = [encode.node("MatMul", ["x", "w"], ["h"]),
             encode.node("Relu", ["h"], ["y"])]
    known = encode.tensor("w", encode.FLOAT, list(weights.shape),
                          weights.ravel().tolist())
    where = tmp_path / "m.onnx"
    where.write_bytes(encode.model(
        nodes, [encode.value("x", encode.FLOAT, ["batch", 5])],
        [encode.value("y", encode.FLOAT, ["batch", 4])], [known]))
    return where


def test_a_model_is_called(path, weights, random):
    model = glen.load(path, {"batch": 3})
    assert [(i.name, i.shape) for i in model.inputs] == [("x", (3, 5))]
    x = random.standard_normal((3, 5)).astype("f4")
    wanted = numpy.maximum(x @ weights, 0)
    numpy.testing.assert_allclose(model(x), wanted, rtol=1e-5, atol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    assert again.cached
    numpy.testing.assert_allclose(again(x), wanted, rtol=1e-5, atol=1e-6)


def test_weights_that_are_given(path, random):
    program = glen.load_program(path, {"batch": 3})
    kernel = glen.compile(program, weights=False)
    assert [i.name for i in kernel.inputs] == ["x", "w"]
    x = random.standard_normal((3, 5)).astype("f4")
    assert (kernel(x, w=numpy.zeros((5, 4), "f4")) == 0).all()


def test_a_model_that_is_rewritten(path, weights, random):
    result = glen.saturate(glen.load_program(path, {"batch": 3}))
    model = glen.compile(result)
    x = random.standard_normal((3, 5)).astype("f4")
    numpy.testing.assert_allclose(model(x), numpy.maximum(x @ weights, 0),
                                  rtol=1e-5, atol=1e-6)


def test_models_that_are_compared(path):
    """Each with the size that it was given."""
    three, again, four = (glen.load_program(path, {"batch": n})
                          for n in (3, 3, 4))
    assert glen.prove(three, again)
    with pytest.raises(glen.Error, match="inputs differ"):
        glen.prove(three, four)


def test_a_size_that_is_not_given(path):
    with pytest.raises(glen.Error) as caught:
        glen.load(path)
    assert 'glen.load(model, {"batch": 1})' in caught.value.hint
    with pytest.raises(TypeError, match="batch"):
        glen.load(path, {"batch": "1..64"})


@pytest.mark.parametrize("content", [b"", b"no model", os.urandom(1000)])
def test_no_models(tmp_path, content):
    where = tmp_path / "m.onnx"
    where.write_bytes(content)
    with pytest.raises(glen.Error):
        glen.load(where)


def test_a_program_with_weights(tmp_path, weights, random):
    (tmp_path / "net.weights").write_bytes(b"1234" + weights.tobytes())
    where = tmp_path / "net.glen"
    where.write_text(
        '(tensor x (shape 3 5) f32)\n'
        '(tensor w (shape 5 4) f32 :data "net.weights" 4)\n'
        '(let y (compute dotProd (cartProd (access x 1)\n'
        '  (transpose (access w 1) (list 1 0)))))\n(output y)\n')
    x = random.standard_normal((3, 5)).astype("f4")
    for kernel in (glen.load(where), glen.compile(where)):
        numpy.testing.assert_allclose(kernel(x), x @ weights, rtol=1e-5,
                                      atol=1e-6)
    (tmp_path / "net.weights").write_bytes(b"1234")
    with pytest.raises(glen.Error):
        glen.load(where)
    assert len(glen.load(where, weights=False).inputs) == 2


def test_weights_are_packed_once(path, weights, random):
    model = glen.load(path, {"batch": 3})
    x = random.standard_normal((3, 5)).astype("f4")
    wanted = numpy.maximum(x @ weights, 0)
    os.remove(path)  # not needed any more
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for y in pool.map(model, [x] * 8):
            numpy.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(TypeError):
        model(x, w=weights)
    with pytest.raises(TypeError):
        model(x, weights)
    numpy.testing.assert_allclose(model(x=x), wanted, rtol=1e-5, atol=1e-6)


def test_another_weight_is_bound(path, random):
    program = glen.load_program(path, {"batch": 3})
    ones = numpy.ones((5, 4), "f4")
    kernel = glen.compile(program, bind={"w": ones})
    x = numpy.abs(random.standard_normal((3, 5))).astype("f4")
    ones[:] = 7  # it was packed as it was
    numpy.testing.assert_allclose(kernel(x), x @ numpy.ones((5, 4), "f4"),
                                  rtol=1e-5, atol=1e-6)
    with pytest.raises(glen.ArrayError):
        glen.compile(program, bind={"w": numpy.ones((4, 5), "f4")})


def test_weights_in_npy(tmp_path, weights, random):
    numpy.save(tmp_path / "w.npy", weights)
    where = tmp_path / "net.glen"
    where.write_text(
        '(tensor x (shape 3 5) f32)\n(tensor w (shape 5 4) f32 :data "w.npy")\n'
        '(let y (compute dotProd (cartProd (access x 1)\n'
        '  (transpose (access w 1) (list 1 0)))))\n(output y)\n')
    x = random.standard_normal((3, 5)).astype("f4")
    numpy.testing.assert_allclose(glen.load(where)(x), x @ weights, rtol=1e-5,
                                  atol=1e-6)
    numpy.save(tmp_path / "w.npy", weights.reshape(4, 5))
    with pytest.raises(glen.Error) as caught:
        glen.load(where)
    assert "expected f32 (5, 4)" in str(caught.value)
