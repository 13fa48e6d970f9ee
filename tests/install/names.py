# SPDX-License-Identifier: MIT
"""Rules and targets by their names, from anywhere."""
import os

PROGRAM = """(tensor A (shape 16 16) f32)
(tensor B (shape 16 16) f32)
(let C (compute dotProd (cartProd (access A 1) (access (transpose B (list 1 0)) 1))))
(output C)
"""


def renamed_targets(installed, folder, name):
    """The targets of the prefix, with another name of their instruction."""
    there = installed.file("share/glen/targets")
    for file in os.listdir(there):
        with open(os.path.join(there, file), encoding="utf-8") as f:
            installed.write(os.path.join(folder, file),
                            f.read().replace("systolicArray", name))


def check(installed):
    says = installed.says
    installed.write("p.glen", PROGRAM)
    base = ["saturate", "p.glen", "--quiet"]
    # The shipped target and, by default, the shipped rules, from a folder that
    # has neither.
    out = says(["glen", *base, "--target", "systolic16"], out="systolicArray")
    installed.expect("rules are those of the prefix",
                     "transpose" in out, out[-800:])
    says(["glen", *base, "--target", "systolic16.target"], out="systolicArray")
    says(["glen", *base, "--target", "targets/systolic16.target", "--rules",
          "rules/"], out="systolicArray")
    says(["glen", *base, "--target", "systolic16", "--rules", "none"],
         out="(output")
    says(["glen", *base, "--target", "sistolic16"], code=1,
         err="did you mean systolic16?")
    says(["glen", *base, "--target", "nothing"], code=1,
         err="those that come with glen are: act-qkv, ")
    says(["glen", *base, "--target", "./systolic16"], code=1, err="no-file")
    says(["glen", *base, "--rules", "none", "--rules", "rules"], code=2,
         err="none")
    # What is given as a path, and what GLEN_PATH has, go first.
    other = os.path.join(installed.scratch, "other")
    renamed_targets(installed, "other/targets", "otherArray")
    renamed_targets(installed, "here", "hereArray")
    says(["glen", *base, "--target", "systolic16"], out="otherArray",
         GLEN_PATH=f"/nowhere::{other}")
    says(["glen", "saturate", "../p.glen", "--target", "systolic16"],
         out="otherArray", at=os.path.join(installed.scratch, "here"),
         GLEN_PATH=other)
    says(["glen", "saturate", "../p.glen", "--target", "systolic16.target"],
         out="hereArray", at=os.path.join(installed.scratch, "here"),
         GLEN_PATH=other)
    installed.write("other/rules/mine.rules", "(rule broken")
    says(["glen", *base, "--rules", "mine"], code=1,
         err="other/rules/mine.rules:1", GLEN_PATH=other)
    # C is made as it is written, unless there is something to map it to.
    plain = says(["glen", "compile", "p.glen", "-o", "-"], out="int\n")
    mapped = says(["glen", "compile", "p.glen", "-o", "-", "--target",
                   "systolic16"])
    written = says(["glen", "compile", "p.glen", "-o", "-", "--target",
                    "systolic16", "--rules", "none"])
    installed.expect("mapped where there are instructions",
                     "systolic" in mapped and "systolic" not in plain + written)
    says(["glen", "compile", "p.glen", "--emit", "dot", "-o", "-"],
         out="digraph")
    says(["glen", "compile", "p.glen", "--emit", "dot", "--rules", "none"],
         code=2, err="needs rules")
    # An output in the folder of rules that a name leads to is refused.
    says(["glen", *base, "--rules", "mine.rules", "-o",
          "other/rules/mine.rules"], code=2, err="would overwrite the input",
         GLEN_PATH=other)
    for command in (["map", "p.glen"], ["explain", "p.glen"],
                    ["rules", "ablate", "p.glen", "--iter-limit", "3"]):
        says(["glen", *command, "--target", "systolic16", "--quiet"])
    # The checker of proofs names rules in the prefix, too.
    out = says(["glen", *base, "--target", "systolic16", "--emit", "proof",
                "-o", "p.proof"])
    says(["glen-check-proof", "p.glen", "p.proof", "-r",
          installed.file("share/glen/rules"), "-t",
          installed.file("share/glen/targets/systolic16.target")],
         out="accepted")
