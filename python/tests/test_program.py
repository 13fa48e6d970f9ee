# SPDX-License-Identifier: MIT
"""Programs: read, printed, refused with places."""
import os
import pickle
import warnings

import glen
import pytest
from conftest import MATMUL


def test_names_of_a_text():
    program = glen.parse(MATMUL)
    assert program.inputs == ("a", "b")
    assert program.outputs == ("product",)
    assert glen.parse(program.text).text == program.text
    assert "((6, 4), ())" in program.typed_text


def test_a_file(tmp_path):
    path = tmp_path / "m.glen"
    path.write_text(MATMUL)
    assert glen.parse(path).text == glen.parse(MATMUL).text
    assert glen.parse(str(path)).name == str(path)
    path.write_text("gone")
    with pytest.raises(glen.Error):
        glen.parse(path)


def test_a_file_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        glen.parse("nothing.glen")


def test_an_error_has_its_place_and_a_hint():
    with pytest.raises(glen.Error) as caught:
        glen.parse("(tensor a (shape 2) f32)\n(let b\n  (transpoze a))\n"
                   "(output b)")
    error = caught.value
    assert (error.code, error.file) == ("unknown-operator", "<program>")
    assert (error.line, error.column) == (3, 4)
    assert error.hint == "did you mean `transpose`?"
    first = error.diagnostics[0]
    assert first is error.first and first.severity == "error"
    assert (first.end_line, first.end_column) == (3, 13)
    assert (first.begin, first.end) == (35, 44)
    assert "<program>:3:4: error:" in str(error)


def test_errors_of_a_named_text():
    with pytest.raises(glen.Error) as caught:
        glen.parse(glen.Text("(output x)", "cell 4"))
    assert caught.value.file == "cell 4"


def test_columns_count_characters():
    with pytest.raises(glen.Error) as caught:
        glen.parse('; größer\n(let ü (pad x))')
    assert caught.value.line == 2


@pytest.mark.parametrize("text", ["(", "()", "(tensor", "\0(", "(let a a)\n",
                                  "(" * 100000, "(output x) " * 5000])
def test_hostile_texts_are_errors(text):
    with pytest.raises((glen.Error, ValueError)):
        glen.parse(text)


def test_errors_and_programs_travel():
    program = pickle.loads(pickle.dumps(glen.parse(MATMUL)))
    assert program == glen.parse(MATMUL)
    with pytest.raises(glen.Error) as caught:
        glen.parse("(output x)")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.line == 1


def test_saturation_rewrites_and_counts():
    result = glen.saturate(MATMUL, target="systolic16")
    assert result.cost <= result.cost_before
    assert result.summary["iterations"] > 0
    assert result.to_dict()["stop"] == result.stop
    assert "cost" in result.report()
    assert result.verify() in ("proved", "tested")
    assert "proved" in result.report() or "tested" in result.report()


DOUBLE = """
(tensor x (shape 4 4) f32)
(let y (transpose (transpose x (list 1 0)) (list 1 0)))
(output y)
"""
TWICE = """
(rule transpose-twice
  "Two transpositions that undo each other."
  (transpose (transpose ?a (list 1 0)) (list 1 0)) => ?a)
"""


def test_rules_as_a_text():
    result = glen.saturate(DOUBLE, TWICE)
    assert "transpose" not in result.program.text
    assert "transpose" in glen.saturate(DOUBLE, "none").program.text


def test_a_wrong_rule_has_its_place():
    with pytest.raises(glen.Error) as caught:
        glen.saturate(DOUBLE, "(rule r \"Wrong.\"\n  (transpose ?a) => ?b)")
    assert caught.value.file == "<rules>" and caught.value.line == 2


def test_an_unsound_rule_is_refuted():
    wrong = '(rule r "Wrong." (compute reduceSum ?a) => (compute reduceMax ?a))'
    program = ("(tensor x (shape 4 4) f32)\n"
               "(let y (compute reduceSum (access x 1)))\n(output y)")
    result = glen.saturate(program, wrong)
    assert result.verify() in ("refuted", "unknown") or \
        "reduceMax" not in result.program.text


def test_a_target_as_a_text_and_by_name():
    assert glen.saturate(MATMUL, target="(target t)").cost > 0
    with pytest.raises(glen.Error) as caught:
        glen.saturate(MATMUL, target="systolic61")
    assert caught.value.hint


def test_progress_and_its_exceptions():
    seen = []
    glen.saturate(MATMUL, target="systolic16",
                  progress=lambda *figures: seen.append(figures))
    assert [figures[0] for figures in seen] == list(range(1, len(seen) + 1))

    def stop(*figures):
        raise KeyError("enough")
    with pytest.raises(KeyError):
        glen.saturate(MATMUL, target="systolic16", progress=stop)


def test_a_limit_of_the_search_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", glen.GlenWarning)
        result = glen.saturate(MATMUL, target="systolic16", iterations=1)
    assert not result.saturated and result.summary["iterations"] == 1


def test_unknown_options_are_refused():
    with pytest.raises(TypeError):
        glen.saturate(MATMUL, iteration=1)


@pytest.mark.parametrize("number", [-1, 1 << 32])
def test_numbers_that_are_no_counts(number):
    with pytest.raises(ValueError):
        glen.saturate(MATMUL, iterations=number)
    with pytest.raises(ValueError):
        glen.compile(MATMUL, threads=number)


def test_bytes_are_read_as_their_text(tmp_path) -> None:
    text = "(tensor x (shape 4) f32)\n(let y (relu x))\n(output y)\n"
    assert glen.parse(text.encode()).text == glen.parse(text).text
    file = tmp_path / "y.glen"
    file.write_text(text)
    assert glen.parse(os.fsencode(file)).text == glen.parse(file).text
    with pytest.raises(FileNotFoundError):
        glen.parse(b"missing.glen")


@pytest.mark.parametrize("source, said", [
    (b"(tensor \xff (shape 2) f32)", "byte 8 is 0xff"),
    ("(tensor \udcff (shape 2) f32)", "half of a surrogate pair")])
def test_what_is_no_text(source, said):
    with pytest.raises(ValueError, match=said):
        glen.parse(source)


def test_a_text_is_a_str():
    with pytest.raises(TypeError, match="must be a str, not bytes"):
        glen.Text(b"(output x)")


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "net.pt"
    path.write_bytes(b"PK\x03\x04\xff\0")
    with pytest.raises(glen.Error) as caught:
        glen.load(path)
    assert "torch.onnx.export" in caught.value.hint
