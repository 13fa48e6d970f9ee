# SPDX-License-Identifier: MIT
"""Kernels: arrays in and out, where they lie and copied."""
import array
import pickle

import glen
import numpy
import pytest
from conftest import MATMUL, TWO, elementwise


def operands(random, dtype="f4"):
    a = random.standard_normal((6, 5)).astype(dtype)
    return a, random.standard_normal((5, 4)).astype(dtype)


def test_a_product(matmul, random):
    a, b = operands(random)
    product = matmul(a, b)
    assert product.dtype == numpy.float32 and product.flags.c_contiguous
    numpy.testing.assert_allclose(product, a @ b, rtol=1e-5, atol=1e-6)


def test_names_and_places(matmul, random):
    a, b = operands(random)
    wanted = matmul(a, b)
    assert (matmul(a, b=b) == wanted).all()
    assert (matmul(b=b, a=a) == wanted).all()
    assert (matmul(b, a=a) == wanted).all()


def test_what_it_says_of_itself(matmul):
    assert [i.name for i in matmul.inputs] == ["a", "b"]
    assert matmul.inputs[1] == glen.Argument("b", "f32", (5, 4))
    assert matmul.outputs == (glen.Argument("product", "f32", (6, 4)),)
    assert "product: f32[6, 4]" in repr(matmul)


@pytest.mark.parametrize("dtype, of_numpy", [
    ("f32", "f4"), ("f64", "f8"), ("i8", "i1"), ("u8", "u1"), ("i32", "i4"),
    ("f16", "f2"), ("i16", "i2"), ("u16", "u2")])
def test_dtypes(dtype, of_numpy):
    kernel = glen.compile(elementwise(dtype))
    x = numpy.arange(12, dtype=of_numpy).reshape(3, 4)
    total = kernel(x, x)
    assert total.dtype == numpy.dtype(of_numpy)
    assert (total == x + x).all()


@pytest.mark.parametrize("dtype, of_numpy, most", [
    ("u32", "u4", 2 ** 32 - 1), ("i64", "i8", 2 ** 53)])
def test_wide_integers(dtype, of_numpy, most):
    kernel = glen.compile(f"(tensor x (shape 4) {dtype})"
                          f"(tensor y (shape 4) {dtype})"
                          "(let z (max x y))(output z)")
    x = numpy.array([0, most, 5, most - 1], dtype=of_numpy)
    y = numpy.array([7, most - 1, 2 ** 31, 3], dtype=of_numpy)
    z = kernel(x, y)
    assert z.dtype == numpy.dtype(of_numpy)
    assert (z == numpy.maximum(x, y)).all()


def test_bf16_is_sixteen_bits():
    kernel = glen.compile(elementwise("bf16"))
    x = (numpy.arange(12, dtype="f4").view("u4") >> 16).astype("u2")
    total = kernel(x.reshape(3, 4), x.reshape(3, 4))
    assert total.dtype == numpy.uint16
    wide = (total.astype("u4") << 16).view("f4")
    assert (wide.ravel() == 2 * numpy.arange(12)).all()


def test_f16_is_that_of_numpy():
    kernel = glen.compile("(tensor x (shape 65536) f16)"
                          "(let y (compute (scale 3) x)) (output y)")
    x = numpy.arange(65536, dtype="u2").view("f2")
    with numpy.errstate(all="ignore"):
        wanted = (x.astype("f4") * numpy.float32(3)).astype("f2")
    numpy.testing.assert_array_equal(kernel(x), wanted)


def test_truth_values():
    kernel = glen.compile("(tensor x (shape 4) f32) (tensor y (shape 4) f32)"
                          "(let z (less x y)) (output z)")
    x = numpy.array([1, 2, numpy.nan, -numpy.inf], "f4")
    y = numpy.array([2, 2, 1, numpy.inf], "f4")
    below = kernel(x, y)
    assert below.dtype == numpy.bool_ and (below == (x < y)).all()


def test_a_scalar():
    kernel = glen.compile(elementwise("f32", ""))
    total = kernel(numpy.array(2, "f4"), numpy.array(3, "f4"))
    assert total.shape == () and total == 5
    assert kernel(numpy.float32(2), numpy.array([3, 4], "f4")[1:].reshape(())
                  ) == 6


def test_several_outputs(random):
    kernel = glen.compile(TWO)
    x = random.standard_normal((3, 4))
    sums, tops = kernel(x)
    numpy.testing.assert_allclose(sums, x.sum(1))
    assert (tops == x.max(1)).all()
    out = (numpy.empty(3), numpy.empty(3))
    given = kernel(x, out=out)
    assert given[0] is out[0] and (out[0] == sums).all()


def test_inputs_and_outputs_are_where_they_lie(matmul, random):
    """No copy: what another view of the memory holds is what is used."""
    a, b = operands(random)
    memory = bytearray(6 * 4 * 4)
    out = numpy.frombuffer(memory, "f4").reshape(6, 4)
    assert matmul(memoryview(a), b, out=memoryview(out)) is not None
    numpy.testing.assert_allclose(numpy.frombuffer(memory, "f4").reshape(6, 4),
                                  a @ b, rtol=1e-5, atol=1e-6)


def strided(a, how):
    wide = numpy.zeros((3 * a.shape[0], 2 * a.shape[1]), a.dtype)
    if how == "gaps":
        view = wide[::3, ::2]
    elif how == "backwards":
        view = wide[2::3, 1::2][::-1, ::-1]
    elif how == "fortran":
        view = numpy.zeros(a.shape, a.dtype, order="F")
    elif how == "unaligned":
        view = numpy.zeros(a.nbytes + 1, "u1")[1:].view(a.dtype)
        view = view.reshape(a.shape)
    else:
        view = numpy.zeros(a.shape, a.dtype.newbyteorder())
    view[...] = a
    return view


HOW = ["gaps", "backwards", "fortran", "unaligned", "swapped"]


@pytest.mark.parametrize("how", HOW)
def test_strides(matmul, random, how):
    a, b = operands(random)
    wanted = matmul(a, b)
    assert (matmul(strided(a, how), strided(b, how)) == wanted).all()
    out = strided(numpy.zeros((6, 4), "f4"), how)
    assert matmul(a, b, out=out) is out
    assert (out == wanted).all()


def test_repeated_elements(matmul):
    a = numpy.broadcast_to(numpy.float32(2), (6, 5))
    b = numpy.broadcast_to(numpy.arange(4, dtype="f4"), (5, 4))
    numpy.testing.assert_allclose(matmul(a, b), a @ b)


def test_an_output_that_is_an_input():
    """Shifted by one element, so that what is written is read afterwards."""
    kernel = glen.compile("(tensor x (shape 64) f32)\n"
                          "(let y (compute add (pair x x)))\n(output y)")
    memory = numpy.arange(65, dtype="f4")
    wanted = 2 * memory[:64].copy()
    kernel(memory[:64], out=memory[1:])
    assert (memory[1:] == wanted).all()


def test_other_buffers():
    kernel = glen.compile("(tensor x (shape 4) f64)\n"
                          "(let y (compute add (pair x x)))\n(output y)")
    assert (kernel(array.array("d", [1, 2, 3, 4])) == [2, 4, 6, 8]).all()


class OnlyDLPack:
    """What is known of it is that it speaks DLPack, as of another library."""

    def __init__(self, a, old=False):
        self.a, self.old, self.asked = a, old, 0

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()

    def __dlpack__(self, **more):
        self.asked += 1
        if self.old and more:
            raise TypeError("max_version is not known")
        try:
            return self.a.__dlpack__(**more)
        except TypeError:
            if more:
                raise
            return self.a.__dlpack__()


@pytest.mark.parametrize("old", [False, True])
def test_dlpack(matmul, random, old):
    a, b = operands(random)
    out = numpy.zeros((6, 4), "f4")
    given = OnlyDLPack(a, old)
    matmul(given, OnlyDLPack(b.T.copy().T, old),
           out=OnlyDLPack(out, old))
    # Those of before 1.0, as are numpy's before 2.1, are asked a second time.
    assert given.asked == 1 + (old or numpy.lib.NumpyVersion(
        numpy.__version__) < "2.1.0")
    numpy.testing.assert_allclose(out, a @ b, rtol=1e-5, atol=1e-6)


def test_dlpack_gives_back_what_it_borrowed(matmul, random):
    import gc
    import weakref

    class Watched(numpy.ndarray):
        pass
    a, b = operands(random)
    watched = a.view(Watched)
    seen = weakref.ref(watched)
    for _ in range(3):
        matmul(OnlyDLPack(watched), b)
    del watched
    gc.collect()
    assert seen() is None


def test_torch(matmul, random):
    torch = pytest.importorskip("torch")
    a, b = operands(random)
    out = torch.zeros(6, 4)
    matmul(torch.from_numpy(a), torch.from_numpy(b.T.copy()).T, out=out)
    numpy.testing.assert_allclose(out.numpy(), a @ b, rtol=1e-5, atol=1e-6)


class NoCapsule:
    """It says that it speaks DLPack, and does not."""

    def __dlpack__(self, **more):
        return 3


@pytest.mark.parametrize("given, said", [
    (lambda a: a.astype("f8"), "a is f32[6, 5], the array is float64[6, 5]"),
    (lambda a: a.T, "a is f32[6, 5], the array is float32[5, 6]"),
    (lambda a: a.ravel(), "float32[30]"),
    (lambda a: a.tolist(), "a list is no array"),
    (lambda a: 3.0, "a float is no array"),
    (lambda a: None, "a"),
    (lambda a: a.astype("U4"), "a is f32"),
    (lambda a: OnlyDLPack(a.astype("f8")), "float64"),
    (lambda a: NoCapsule(), "PyCapsule")])
def test_arrays_that_do_not_fit(matmul, random, given, said):
    a, b = operands(random)
    with pytest.raises(glen.ArrayError) as caught:
        matmul(given(a), b)
    assert said in str(caught.value)
    matmul(a, b)


@pytest.mark.parametrize("strides, fine", [
    ((4, 4), False), ((20, 4), False), ((24, 4), True), ((-24, -4), True),
    ((28, 20), True), ((26, 20), False), ((0, 4), False)])
def test_an_output_does_not_overlap_itself(strides, fine):
    relu = glen.compile("(tensor x (shape 4 6) f32)\n(let y (relu x))\n"
                        "(output y)\n")
    x = numpy.arange(24, dtype="f4").reshape(4, 6)
    out = numpy.lib.stride_tricks.as_strided(
        numpy.zeros(96, "f4")[48:], (4, 6), strides)
    if fine:
        assert numpy.array_equal(relu(x, out=out), x)
        return
    with pytest.raises(glen.ArrayError, match="let elements overlap"):
        relu(x, out=out)


def test_outputs_that_do_not_fit(matmul, random):
    a, b = operands(random)
    frozen = numpy.zeros((6, 4), "f4")
    frozen.flags.writeable = False
    for out in (frozen, numpy.zeros((4, 6), "f4"), numpy.zeros((6, 4)), b""):
        with pytest.raises((glen.ArrayError, TypeError)):
            matmul(a, b, out=out)
    assert (frozen == 0).all()


@pytest.mark.parametrize("call, said", [
    (lambda k, a, b: k(a), "the input b is missing"),
    (lambda k, a, b: k(), "the input a is missing"),
    (lambda k, a, b: k(a, b, b), "3 arrays are given for 2 inputs"),
    (lambda k, a, b: k(a, b, a=a), "3 arrays are given"),
    (lambda k, a, b: k(a, b, c=b), "no input named c"),
    (lambda k, a, b: k(a, b, out=(a, b)), "out is a sequence of 1"),
    (lambda k, a, b: type(k)(), "glen.compile makes kernels")])
def test_wrong_calls(matmul, random, call, said):
    with pytest.raises(TypeError) as caught:
        call(matmul, *operands(random))
    assert said in str(caught.value)


def test_bound_inputs(random):
    a, b = operands(random)
    kernel = glen.compile(MATMUL, bind={"b": b})
    assert [i.name for i in kernel.inputs] == ["a"]
    numpy.testing.assert_allclose(kernel(a), a @ b, rtol=1e-5, atol=1e-6)
    with pytest.raises(TypeError):
        kernel(a, b=b)
    with pytest.raises(glen.ArrayError):
        glen.compile(MATMUL, bind={"b": a})
    with pytest.raises(ValueError):
        glen.compile(MATMUL, bind={"product": b})


def test_many_arguments():
    n = 40
    text = "".join(f"(tensor x{k} (shape 3) f32)\n" for k in range(n))
    term = "x0"
    for k in range(1, n):
        term = f"(compute add (pair {term} x{k}))"
    kernel = glen.compile(f"{text}(let y {term})\n(output y)")
    arrays = [numpy.full(3, k, "f4") for k in range(n)]
    assert (kernel(*arrays) == sum(range(n))).all()


def test_a_kernel_travels(matmul, random):
    a, b = operands(random)
    again = pickle.loads(pickle.dumps(matmul))
    assert again.cached and (again(a, b) == matmul(a, b)).all()


def test_rules_before_compiling(random):
    a, b = operands(random)
    kernel = glen.compile(MATMUL, rules=None, verify=True)
    assert kernel.verdict in ("proved", "tested")
    numpy.testing.assert_allclose(kernel(a, b), a @ b, rtol=1e-5, atol=1e-6)
    kernel = glen.compile(glen.saturate(MATMUL))
    numpy.testing.assert_allclose(kernel(a, b), a @ b, rtol=1e-5, atol=1e-6)


def test_instructions_of_a_target(random):
    """The array of cells is modelled in C, which the kernel holds."""
    text = MATMUL.replace("6 5", "32 16").replace("5 4", "16 16")
    kernel = glen.compile(text, target="systolic16")
    a = random.standard_normal((32, 16)).astype("f4")
    b = random.standard_normal((16, 16)).astype("f4")
    numpy.testing.assert_allclose(kernel(a, b), a @ b, rtol=1e-4, atol=1e-5)
    assert "systolicArray" in glen.saturate(text,
                                            target="systolic16").program.text


def test_strict_fp_merges_no_scales(random):
    text = glen.Text("(tensor x (shape 64) f32)\n(let y (compute (scale 0.1)"
                     " (compute (scale 0.3) x)))\n(output y)\n")
    x = random.standard_normal(64).astype("f4")
    wanted = (x * numpy.float32(0.3)) * numpy.float32(0.1)
    strict = glen.compile(text, rules=None, strict_fp=True)
    assert (strict(x) == wanted).all()
    assert (glen.compile(text, rules=None)(x) != wanted).any()
    kept = glen.saturate(text, strict_fp=True)
    assert str(kept.program).count("scale") == 2
