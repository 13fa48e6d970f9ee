# SPDX-License-Identifier: MIT
"""Example projects of build systems, against the prefix: what is made again
when something changes, and that a second build makes nothing."""
import os
import re
import shutil
import stat
import subprocess
import time

from harness import ROOT

PRINTED = "0\n6\n12\n18\n"
RULE = """(rule %s
  "For the tests."
  (compute relu (compute %s ?a)) => (compute %s ?a))
"""
# Names that shells, make and ninja take for more than letters.
NAMES = ["plain", "a b", "a#b", "a$b", "a:b", "50%", "a\\b", "a@b",
         "a{b}", "a(b", "a,b", "~a", "\u00e4"]
FOR_MAKE = ["a*b", "a?b", "a[b", "a&b", "a<b", "a\\ b", "a'b"]


class Project:
    """A copy of the examples. Programs that stand first in the path note what
    is run."""

    def __init__(self, installed, system):
        self.installed, self.system = installed, system
        self.top = os.path.join(installed.scratch, "builds-" + system)
        shutil.copytree(os.path.join(ROOT, "examples/build"), self.top)
        self.log = os.path.join(self.top, "log")
        self.tools = os.path.join(self.top, "tools")
        os.mkdir(self.tools)
        self.wrap("glen", installed.file("bin/glen"))
        self.wrap("cc", shutil.which("cc"))

    def wrap(self, name, program):
        path = os.path.join(self.tools, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\necho {name} \"$@\" >> '{self.log}'\n"
                    f"exec '{program}' \"$@\"\n")
        os.chmod(path, stat.S_IRWXU)

    def run(self, command, at):
        path = self.tools + ":" + self.installed.environment()["PATH"]
        return self.installed.run(command, os.path.join(self.top, at),
                                  PATH=path, CC=os.path.join(self.tools, "cc"))

    def build(self):
        """The names of what was made: `dense` by glen, `dense.o` by cc."""
        open(self.log, "w", encoding="utf-8").close()
        command, at = BUILDS[self.system][1:]
        code, out, err = self.run(command, at)
        self.installed.expect(f"{self.system}: {' '.join(command)}", code == 0,
                              (out + err)[-3000:])
        if self.system == "bazel":
            return sorted(re.findall(r"^SUBCOMMAND: # //bazel:(\w+)_c \[", err,
                                     re.M))
        with open(self.log, encoding="utf-8") as f:
            return sorted(set(made for line in f for made in made_by(line)))

    def builds(self, what, glen, cc=None):
        """Makes these kernels again, and objects; then nothing."""
        made = self.build()
        ran = [name for name in made if not name.endswith(".o")]
        objects = [name[:-2] for name in made if name.endswith(".o")]
        expect = self.installed.expect
        expect(f"{self.system}, {what}: glen", ran == glen, made)
        if cc is not None and self.system != "bazel":
            expect(f"{self.system}, {what}: cc", objects == cc, made)
        again = self.build()
        expect(f"{self.system}, {what}: a second time", again == [], again)

    def path(self, *names):
        return os.path.join(self.top, "src", *names)

    def write(self, name, text):
        """As editors do that open a file, and save it later."""
        later()
        with open(self.path(name), "w", encoding="utf-8"):
            later()
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def kernel(self):
        """The C of `dense`."""
        top = self.path("..", "bazel-bin" if self.system == "bazel" else "")
        for at, _, names in os.walk(top):
            if "dense.c" in names:
                with open(os.path.join(at, "dense.c"), encoding="utf-8") as f:
                    return f.read()
        return None


def later():
    """Times of files have steps, and make needs a later one."""
    time.sleep(0.02)


def made_by(line):
    words = line.split()
    if words[0] == "glen" and "compile" in words:
        return [os.path.basename(words[2]).split(".")[0]]
    if words[0] == "cc" and "-c" in words:
        name = re.search(r"(main|dense|sum)[^/ ]*\.o\b", line)
        return [name[1] + ".o"] if name else []
    return []


# How it is configured, built, and where.
BUILDS = {
    "make": ([], ["make"], "make"),
    "ninja": ([], ["ninja"], "ninja"),
    "cmake": (["cmake", "-S", "cmake", "-B", "out", "-G", "Unix Makefiles"],
              ["cmake", "--build", "out"], "."),
    "cmake-ninja": (["cmake", "-S", "cmake", "-B", "out", "-G", "Ninja"],
                    ["cmake", "--build", "out"], "."),
    "meson": (["meson", "setup", "out", "meson"], ["ninja", "-C", "out"], "."),
    "bazel": ([], [], "."),
}


def configure(project):
    command = BUILDS[project.system][0]
    if command[:1] == ["cmake"]:
        command = command + ["-DGLEN_PROGRAM=" +
                             os.path.join(project.tools, "glen")]
    if command:
        code, out, err = project.run(command, ".")
        project.installed.expect(" ".join(command), code == 0, out + err)


def check_project(project, app):
    """What a change of time, of text, of the list of rules makes again. Only
    Bazel and what is built by ninja see that a file's content is as it was."""
    says_same = project.system not in ("make", "cmake")
    by_content = project.system == "bazel"
    configure(project)
    project.builds("first", ["dense", "sum"], ["dense", "main", "sum"])
    if app:
        seen = project.run([app], ".")
        project.installed.expect(f"{project.system}: the program runs",
                                 seen == (0, PRINTED, ""), seen)
    objects = ["dense", "main"]
    later()
    os.utime(project.path("dense.glen"))
    project.builds("touched", [] if by_content else ["dense"],
                   [] if says_same else objects)
    with open(project.path("rules/relu.rules"), encoding="utf-8") as f:
        rule = f.read()
    once = project.kernel()
    project.write("rules/relu.rules", RULE % ("relu-of-abs", "abs", "abs"))
    project.builds("a rule changed", ["dense"])
    twice = project.kernel()
    project.installed.expect(f"{project.system}: another rule, other C",
                             once and twice and twice != once)
    project.write("rules/more.rules", RULE % ("relu-again", "relu", "relu"))
    project.builds("a rule added", ["dense"])
    project.installed.expect(f"{project.system}: the added rule is used",
                             project.kernel() == once)
    later()
    os.remove(project.path("rules/more.rules"))
    project.builds("a rule removed", ["dense"])
    project.installed.expect(f"{project.system}: the removed rule is not used",
                             project.kernel() == twice)
    project.write("rules/relu.rules", rule)
    project.builds("as it was", ["dense"])
    with open(project.path("sum.glen"), encoding="utf-8") as f:
        text = f.read()
    project.write("sum.glen", text.replace("reduceSum", "reduceMax"))
    project.builds("another program", ["sum"])


KERNEL_M = """cmake_minimum_required(VERSION 3.20)
project(shared LANGUAGES C)
find_package(glen REQUIRED)
glen_add_kernel(m net.glen FUNCTION f)
add_library(around SHARED around.c)
target_link_libraries(around PRIVATE m)
"""
AROUND = """#include "m.h"
int around(const float *x, float *y) { return f(x, y, 0); }
"""


def check_kernel_m(installed):
    """A kernel is a part of a shared library, even one with the name of the
    library of mathematics."""
    at = os.path.join(installed.scratch, "kernel m")
    installed.write("kernel m/net.glen", NET)
    installed.write("kernel m/CMakeLists.txt", KERNEL_M)
    installed.write("kernel m/around.c", AROUND)
    installed.says(["cmake", "-S", ".", "-B", "out", "-G", "Ninja"], at=at)
    installed.says(["ninja", "-C", "out"], at=at)
    installed.says(["ninja", "-C", "out"], at=at, out="no work to do")


MADE = """cmake_minimum_required(VERSION 3.20)
project(made LANGUAGES C)
find_package(glen REQUIRED)
foreach(name made.rules made.target)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/${name}.in
      ${CMAKE_CURRENT_BINARY_DIR}/${name}
    DEPENDS ${name}.in)
endforeach()
glen_add_kernel(net net.glen RULES ${CMAKE_CURRENT_BINARY_DIR}/made.rules
  TARGET ${CMAKE_CURRENT_BINARY_DIR}/made.target)
"""


def check_made(installed):
    """Rules and a target that the build makes, before the kernel and anew."""
    at = os.path.join(installed.scratch, "made")
    for name, text in (("net.glen", NET), ("CMakeLists.txt", MADE),
                       ("made.rules.in", RULE % ("r", "relu", "relu")),
                       ("made.target.in", "(target made (cores 2))\n")):
        installed.write("made/" + name, text)
    installed.says(["cmake", "-S", ".", "-B", "out", "-G", "Ninja"], at=at)
    installed.says(["ninja", "-C", "out"], at=at)
    installed.says(["ninja", "-C", "out"], at=at, out="no work to do")
    for name in ("made.rules.in", "made.target.in"):
        later()
        with open(os.path.join(at, name), "a", encoding="utf-8") as f:
            f.write("\n")
        installed.says(["ninja", "-C", "out"], at=at, out="glen net")
        installed.says(["ninja", "-C", "out"], at=at, out="no work to do")


# The rules that Bazel fetches by itself, and where Debian's packages have them.
RULES_OF_BAZEL = {"rules_java": "/usr/share/bazel/rules/java",
                  "rules_proto": "/usr/share/bazel/rules/proto"}
# Debian's rules for C are newer than its Bazel. Those that are built into Bazel
# take their place.
RULES_FOR_C = "".join(f"{name} = native.{name}\n" for name in (
    "cc_binary", "cc_import", "cc_library", "cc_test", "cc_toolchain",
    "cc_toolchain_suite"))


def rules_at_hand(installed):
    """Options that give Bazel the rules it would fetch; none where some of
    them are not here."""
    if not all(map(os.path.isdir, RULES_OF_BAZEL.values())):
        return []
    folder = os.path.join(installed.scratch, "rules_cc")
    for name, text in (("WORKSPACE", ""), ("cc/BUILD", ""),
                       ("cc/defs.bzl", RULES_FOR_C)):
        installed.write("rules_cc/" + name, text)
    return [f"--override_repository={name}={path}" for name, path in
            dict(RULES_OF_BAZEL, rules_cc=folder).items()]


NAMED = """load("//bazel:glen.bzl", "glen_kernel")
glen_kernel(
    name = "k",
    src = "a b.glen",
    rules = glob(["r s/*.rules"]),
    target_file = "my own.target",
    data = ["the weights"],
)
"""
WEIGHTED = """(tensor w (shape 2) f32 :data "the weights" 0)
(let y (compute relu (compute relu w)))
(output y)
"""


def check_named(project, build):
    """Files whose names have spaces, and what a change of each makes. The name of
    the package has none, since Bazel 4 makes no library there."""
    expect = project.installed.expect
    files = {"BUILD": NAMED, "a b.glen": WEIGHTED, "the weights": "01234567",
             "r s/relu.rules": RULE % ("r", "relu", "relu"),
             "my own.target": "(target mine\n  (vector-bytes 16))\n"}
    os.makedirs(project.path("..", "named", "r s"))

    def made():
        code, _, err = project.run(build("//named:k"), ".")
        expect("bazel build //named:k", code == 0, err[-2000:])
        return "//named:k_c [" in err
    for name, text in files.items():
        project.write("../named/" + name, text)
    expect("bazel: names with spaces", made() and not made())
    changes = {"a b.glen": "\n", "r s/relu.rules": "\n", "my own.target": "\n",
               "the weights": "89"}
    for name, more in changes.items():
        project.write("../named/" + name, files[name] + more)
        expect(f"bazel notices that {name!r} changed", made())
        expect("bazel has nothing to do", not made())


ROOT_PACKAGE = """load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//bazel:glen.bzl", "glen_kernel")
glen_kernel(name = "top", src = "//src:sum.glen")
cc_binary(name = "program", srcs = ["top_main.c"], deps = [":top"])
"""


def check_root(project, build):
    """The topmost folder is a package, too."""
    project.write("../BUILD", ROOT_PACKAGE)
    project.write("../top_main.c", '#include "top.h"\n'
                  "int main(void) { return top_workspace_size() > 1 << 20; }\n")
    code, _, err = project.run(build("//:program"), ".")
    project.installed.expect("bazel build //:program", code == 0, err[-2000:])


def check_bazel(installed):
    bazel = shutil.which("bazel") or shutil.which("bazel-bootstrap")
    if not bazel:
        print("skipped bazel: it is not installed here")
        return
    project = Project(installed, "bazel")
    root = os.path.join(installed.scratch, "bazel-root")
    start = [bazel, "--output_user_root=" + root, "--max_idle_secs=60"]
    flags = ["--action_env=PATH", "--subcommands", "--color=no",
             "--noshow_progress"]

    def build(*targets):
        return start + ["build"] + flags + list(targets)
    code, out, err = project.run(build("//bazel:app"), ".")
    if "Unknown host" in err:
        flags += rules_at_hand(installed)
        code, out, err = project.run(build("//bazel:app"), ".")
    if "Unknown host" in err:
        print("skipped bazel: its own rules cannot be fetched here, and not all "
              "packages that hold them are installed (bazel-rules-java, "
              "bazel-rules-proto)")
    elif installed.expect("bazel build //bazel:app", code == 0, err[-2000:]):
        project.run(start + ["clean"], ".")
        BUILDS["bazel"] = ([], build("//bazel:app"), ".")
        check_project(project, "bazel-bin/bazel/app")
        check_named(project, build)
        check_root(project, build)
    project.run(start + ["shutdown"], ".")
    subprocess.run(["chmod", "-R", "u+w", root], check=False)


# ---- names ----

NET = """(tensor x (shape 4 4) f32)
(let y (compute relu x))
(output y)
"""


def check_names(installed):
    """A name is one name to the tool that reads the list: it notices when the
    file changes, and goes on when it is gone."""
    for tool, names in (("make", NAMES + FOR_MAKE), ("ninja", NAMES)):
        for role in ("input", "output", "folder"):
            Named(installed, tool, role, names).check()
    at = os.path.join(installed.scratch, "names")
    for tool, name in (("make", "a;b"), ("make", "a=b"), ("ninja", "a&b")):
        shutil.rmtree(at)
        os.makedirs(at)
        installed.write(f"names/{name}", NET)
        installed.says(["glen", "compile", name, "-o", "o.c", "--depfile", "d",
                        "--depfile-format", tool], at=at,
                       err=f"--depfile leaves out '{name}'")
        with open(os.path.join(at, "d"), encoding="utf-8") as f:
            installed.expect(f"{tool} can read on", f.read() == "o.c:\n")


class Named:
    """One project in which each name is that of an input, an output, or a
    folder of rules, in a folder of its number."""

    def __init__(self, installed, tool, role, names):
        self.installed, self.tool, self.role = installed, tool, role
        self.names = names
        self.at = os.path.join(installed.scratch, "names")
        shutil.rmtree(self.at, ignore_errors=True)
        os.makedirs(self.at)
        rules = "".join(self.rule_of(k) for k in range(len(names)))
        if tool == "make":
            lists = " ".join(f"{k}/d" for k in range(len(names)))
            self.put("Makefile", "all:\n.PHONY: all\n" + rules +
                     f"-include {lists}\n")
        else:
            self.put("build.ninja", "rule r\n  command = sh ./$k/run\n"
                     "  depfile = $k/d\n  restat = 1\n" + rules)

    def put(self, path, text):
        self.installed.write("names/" + path, text)

    def input_of(self, k):
        return f"{k}/{self.names[k] if self.role == 'input' else 'p'}"

    def output_of(self, k):
        return f"{k}/{self.names[k] if self.role == 'output' else 'o.c'}"

    def rule_of(self, k):
        command = ["compile", self.input_of(k), "-o", self.output_of(k),
                   "--emit", "c", "--name", "f", "--depfile", f"{k}/d",
                   "--depfile-format", self.tool]
        self.put(self.input_of(k), NET)
        if self.role == "folder":
            self.put(f"{k}/{self.names[k]}/r.rules", RULE % ("r", "abs", "abs"))
            command += ["--rules", f"{k}/{self.names[k]}"]
        if self.tool == "make":
            command += ["--touch"]
        words = " ".join("'" + w.replace("'", "'\\''") + "'" for w in command)
        self.put(f"{k}/run", f"echo {k} >> mark\nexec glen {words}\n")
        if self.tool == "ninja":
            target = self.output_of(k).replace("$", "$$").replace(" ", "$ ")
            target = target.replace(":", "$:")
            return f"build {target}: r\n  k = {k}\n"
        plain, target = (quoted(self.output_of(k), special)
                         for special in (" #:*?[", " #:*?[%"))
        return f"all: {plain}\n{target}:\n\t@sh ./{k}/run\n"

    def runs(self):
        mark = os.path.join(self.at, "mark")
        open(mark, "w", encoding="utf-8").close()
        code, out, err = self.installed.run([self.tool], self.at)
        with open(mark, encoding="utf-8") as f:
            made = {int(k) for k in f.read().split()}
        return made, (code, out, err)

    def expect(self, what, wanted):
        made, seen = self.runs()
        for k, name in enumerate(self.names):
            self.installed.expect(
                f"{self.tool}: {self.role} {name!r} {what}",
                seen[0] == 0 and (k in made) == wanted, seen)

    def check(self):
        self.expect("is made", True)
        self.expect("is up to date", False)
        later()
        for k, name in enumerate(self.names):
            if self.role == "folder":
                self.put(f"{k}/{name}/s.rules", RULE % ("s", "abs", "abs"))
            else:
                os.utime(os.path.join(self.at, self.input_of(k)))
        self.expect("is noticed", True)
        self.expect("is up to date again", False)


def quoted(name, special):
    """As make reads it; backslashes before what one escapes are doubled."""
    return re.sub(r"(\\*)([%s$])" % re.escape(special), lambda m: m[1] + (
        "$$" if m[2] == "$" else m[1] + "\\" + m[2]), name)


def check(installed):
    check_names(installed)
    check_kernel_m(installed)
    check_made(installed)
    for system, app in (("make", "make/app"), ("ninja", "ninja/app"),
                        ("cmake", "out/app"), ("cmake-ninja", "out/app"),
                        ("meson", "out/app")):
        check_project(Project(installed, system), app)
