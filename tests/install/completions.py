# SPDX-License-Identifier: MIT
"""What bash, zsh and fish offer for the last word of a command line, by their
installed functions."""
import os
import shutil

# The words, the last one being typed, and what is offered.
LINES = [
    (["satu"], ["saturate"]),
    (["rules", "ab"], ["ablate"]),
    (["help", "rules", "ab"], ["ablate"]),
    (["saturate", "--extractor", ""], ["tree", "dag", "exact", "ilp"]),
    (["compile", "p.glen", "--scheduler", "b"], ["backoff"]),
    (["compile", "--emit", "glen,man"], ["glen,manifest"]),
    (["schedule", "--print", "loops,ax"], ["loops,axes"]),
    (["compile", "--dispatch", "avx2,avx5"], ["avx2,avx512"]),
    (["saturate", "--strategy", "every"], ["everything"]),
    (["saturate", "-r", "mine.rules", "--strategy", ""], ["quick"]),
    (["saturate", "-r", "mine.rules", "--disable-rule", ""], ["one", "some"]),
    (["rules", "prove", "--shap"], ["--shapes"]),
    (["saturate", "--shap"], []),
    (["map", "-t", "systolic16", "--why-not", "systolicArrayI"],
     ["systolicArrayI8"]),
    (["run", "p.glen", "--prepack", ""], ["images", "weights"]),
    (["map", "p.glen", "--require", ""], ["layer"]),
    (["compile", ""], ["folder/", "open.glen", "p.glen", "m.onnx"]),
    (["compile", "p"], ["p.glen"]),
    (["compile", "--schedule", ""], ["folder/", "s.sched"]),
    (["rules", "check", "mi"], ["mine.rules"]),
    (["rules", "prove", "wino"], ["winograd"]),
    (["target", "systolic1"], ["systolic16"]),
    (["target", "test", "systolic1"], ["systolic16"]),
    (["fmt", "mi"], ["mine.rules"]),
    (["fmt", "wino"], []),
    (["run", "open.glen", "--size", ""], ["length=", "rows="]),
    (["run", "open.loops", "--size", ""], ["n="]),
    (["run", "--size", ""], []),
    (["run", "m.onnx", "--dim", ""], ["N=", "words="]),
    (["compile", "--dim", "N=4", "m.onnx", "--dim", "w"], ["words="]),
    (["import", "m.onnx", "--dim=N=2", "--dim", "w"], ["words="]),
    (["run", "p.glen", "--dim", ""], []),
    (["run", "p.glen", "--input", ""], ["images=", "weights="]),
    (["saturate", "--dump-phases", ""], ["folder/"]),
    (["saturate", "-o", "s"], ["s.sched"]),
    (["compile", "--target", "systolic1"], ["systolic16"]),
    (["compile", "--target", "nat"], ["native"]),
    (["saturate", "--rules", "mi"], ["mine.rules"]),
    (["saturate", "--no-such", "x"], []),
    (["import", ""], ["folder/", "m.onnx"]),
    (["no-such-command", "-"], []),
]
# relu of an array of N x 4 x words x N elements, in the ONNX format.
MODEL = ("\b\b:Y\n\f\n\1x\22\1y\"\4Relu\22\1g"
         "Z\"\n\1x\22\35\n\33\b\1\22\27\n\3\22\1N\n\2\b\4\n\a\22\5words\n\3\22\1N"
         "b\"\n\1y\22\35\n\33\b\1\22\27\n\3\22\1N\n\2\b\4\n\a\22\5words\n\3\22\1N"
         "B\4\n\0\20\21")
FILES = {
    "p.glen": "(tensor images (shape 4 8) f32)\n"
              "(tensor weights (shape 4 8) f32)\n"
              "(let layer (compute dotProd\n"
              "  (cartProd (access images 1) (access weights 1))))\n"
              "(output layer)\n",
    "open.glen": "(size rows 1 64)\n(size length 8 64 8)\n"
                 "(tensor x (shape rows length) f32)\n(output x)\n",
    "open.loops": "size n: 1 to 64\n",
    "s.sched": "print loops\n", "m.onnx": MODEL,
    "mine.rules": "(rule one \"Two are one.\"\n"
                  "  (compute relu (compute relu ?a)) => (compute relu ?a))\n"
                  "(ruleset some one)\n(strategy quick (saturate some))\n",
}
# What the shell itself has only while someone types.
ZSH = r"""
_describe() { local item
  for item in "${(@P)2}"; do [[ $item = ${words[CURRENT]}* ]] &&
    print -r -- "${item%%:*}"; done }
_files() { local file ends=${${2-}#\*}
  for file in ${words[CURRENT]}*(N); do
    if [[ -d $file ]]; then print -r -- $file/
    elif [[ ${1-} != -/ ]] && [[ -z $ends || $file = *${~ends} ]]; then
      print -r -- $file; fi; done }
words=("$@"); CURRENT=$#
"""


def quoted(words):
    return " ".join("'" + w.replace("'", "'\\''") + "'" for w in words)


def by_bash(installed, words, at):
    file = installed.file("share/bash-completion/completions/glen")
    return installed.run(["bash", "-c", (
        f"source {file}; COMP_WORDS=(glen {quoted(words)}); "
        f"COMP_CWORD={len(words)}; _glen; for x in \"${{COMPREPLY[@]}}\"; do "
        "[ -d \"$x\" ] && x=$x/; echo \"$x\"; done")], at)


def by_zsh(installed, words, at):
    with open(installed.file("share/zsh/site-functions/_glen"),
              encoding="utf-8") as f:
        text = f.read()
    return installed.run(["zsh", "-f", "-c", ZSH + text.replace(
        '_glen "$@"\n', "_glen\n"), "zsh", "glen", *words], at)


def by_fish(installed, words, at):
    file = installed.file("share/fish/vendor_completions.d/glen.fish")
    return installed.run(["fish", "--no-config", "-c", (
        f"source {file}; complete -C \"$argv\" | string split -f 1 \\t"),
        " ".join(["glen", *words])], at)


SHELLS = {"bash": by_bash, "zsh": by_zsh, "fish": by_fish}


def check_equals(installed, at):
    """bash cuts words at `=`, the others do not."""
    for shell, words, wanted in [
            ("bash", ["saturate", "--extractor", "=", "ex"], ["exact"]),
            ("bash", ["saturate", "--extractor", "="],
             ["tree", "dag", "exact", "ilp"]),
            ("zsh", ["saturate", "--extractor=ex"], ["--extractor=exact"]),
            ("fish", ["compile", "--verify=t"], ["--verify=tested"])]:
        if shutil.which(shell):
            code, out, err = SHELLS[shell](installed, words, at)
            installed.expect(f"{shell}: {' '.join(words)}",
                             sorted(out.split()) == sorted(wanted),
                             (code, out, err))


def check(installed):
    at = os.path.join(installed.scratch, "completions")
    os.makedirs(os.path.join(at, "folder"))
    for name, text in FILES.items():
        installed.write(os.path.join("completions", name), text)
    for shell, complete in SHELLS.items():
        if not shutil.which(shell):
            print(f"skipped {shell}: the shell is not installed here")
            continue
        for words, wanted in LINES:
            code, out, err = complete(installed, words, at)
            installed.expect(f"{shell}: {' '.join(words)}",
                             sorted(out.split()) == sorted(wanted),
                             (code, out, err))
    check_equals(installed, at)
