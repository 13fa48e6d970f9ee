# SPDX-License-Identifier: MIT
"""Proofs of programs and of rules."""
import concurrent.futures

import glen
import pytest

SUM = """
(tensor x (shape 4 4) i32)
(tensor y (shape 4 4) i32)
(let z (compute add (pair x y)))
(output z)
"""


def test_equal_programs():
    proof = glen.prove(SUM, SUM.replace("pair x y", "pair y x"))
    assert proof and proof.verdict == "proved" and not proof.refuted
    assert proof.to_dict()["answer"] == "proved"


def test_unequal_programs_have_an_input_that_shows_it():
    proof = glen.prove(SUM, SUM.replace("pair x y", "pair x x"))
    assert not proof and proof.refuted
    found = proof.to_dict()
    assert found["left_value"] != found["right_value"]
    assert {i["name"] for i in found["inputs"]} <= {"x", "y"}
    assert "refuted" in str(proof)


def test_programs_that_cannot_be_compared():
    with pytest.raises(glen.Error) as caught:
        glen.prove(SUM, SUM.replace("(shape 4 4)", "(shape 4 5)"))
    assert caught.value.code


def test_instructions_on_one_side():
    text = ("(tensor a (shape 8 16) f32)\n(tensor b (shape 16 16) f32)\n"
            "(let p (compute dotProd (cartProd (access a 1)\n"
            "  (access (transpose b (list 1 0)) 1))))\n(output p)\n")
    result = glen.saturate(text, target="systolic16")
    assert "systolicArray" in result.program.text
    assert glen.prove(text, result.program)


RULES = """
(rule sums-commute "A sum does not depend on the order of its operands."
  (compute add (pair ?a ?b)) => (compute add (pair ?b ?a)))
(rule wrong "A sum is no product."
  (compute add (pair ?a ?b)) => (compute mul (pair ?a ?b)))
"""


def check(proofs):
    good, bad = proofs
    assert (good.rule, bad.rule) == ("sums-commute", "wrong")
    assert good.verdict in ("proved", "checked") and not good.refuted
    assert good.place == "<rules>:2" and bad.place == "<rules>:4"
    assert bad.refuted and not bad and "wrong: refuted" in str(bad)


def test_rules():
    check(glen.prove_rules(RULES))


def test_rules_by_an_executor():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        check(glen.prove_rules(RULES, executor=pool))
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        check(glen.prove_rules(RULES, executor=pool))


def test_one_rule_of_those_that_come_with_glen():
    proofs = glen.prove_rules(filter="reshape-twice")
    assert [p.rule for p in proofs] == ["reshape-twice"]
    assert proofs[0] and proofs[0].all_sizes


def test_rules_that_do_not_parse():
    with pytest.raises(glen.Error) as caught:
        glen.prove_rules("(rule r)")
    assert caught.value.line == 1
