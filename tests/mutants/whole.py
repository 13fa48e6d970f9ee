# SPDX-License-Identifier: MIT
"""Everything in one shared library, so that a fault is one file compiled anew.

All of src/ becomes libwhole.so, in which every name can be interposed, and each
program of the build folder is linked to it from its own objects.  Before it they
load libfault.so, which is empty: a changed source file, compiled into a library
of that name alone, stands in place of the one in libwhole.so, and nothing is
linked anew.  A second libwhole.so, by clang, notes which blocks are run.
"""
import json
import os
import re
import shlex
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "mutants")
HOME = os.path.join(ROOT, "build-mutants")
WHOLE, COUNTED, FAULTY = (os.path.join(HOME, n)
                          for n in ("whole", "counted", "faulty"))
# The libraries lie where libglen.so does, which finds its rules from there.
LIBRARIES = "src/api"
# Assertions are on, as where the sanitizers are; debugging has no part in it.
PLAIN = ["-O1", "-UNDEBUG", "-w", "-fPIC", "-fvisibility=default",
         "-fsemantic-interposition"]
QUICK = ["-O0", *PLAIN[1:]]
COUNTING = ["-O0", "-g1", "-UNDEBUG", "-w", "-fPIC",
            "-fsanitize-coverage=trace-pc-guard,pc-table"]
RULES = """rule cc
 command = $cc $flags -MD -MF $out.d -c $in -o $out
 depfile = $out.d
 deps = gcc
rule so
 command = gcc -shared -Wl,-z,lazy -Wl,-soname,$name -o $out @$out.rsp $more
 rspfile = $out.rsp
 rspfile_content = $in
rule exe
 command = gcc -Wl,-z,lazy -Wl,--no-as-needed -o $out $objects $links
"""


class Build:
    """What a meson build folder knows of sources, programs and tests."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        with open(os.path.join(self.folder, "compile_commands.json"),
                  encoding="utf-8") as f:
            listed = json.load(f)
        self.entries = {}   # sources below src/, each with its flags
        for e in listed:
            path = os.path.relpath(os.path.join(self.folder, e["file"]), ROOT)
            # The parts of a program that lsp/ compiles for its tests are twice.
            if path.startswith("src/") and "tests/" not in e["output"]:
                self.entries[path] = self.flags(e, path)
            elif path.startswith(os.path.basename(self.folder) + "/src/"):
                self.entries[path] = self.flags(e, path)
        self.targets = self.asked("--targets")
        self.tests = self.asked("--tests")

    def asked(self, what):
        return json.loads(subprocess.run(
            ["meson", "introspect", self.folder, what], capture_output=True,
            text=True, check=True).stdout)

    def flags(self, entry, path):
        found = [w for w in shlex.split(entry["command"])
                 if w[:2] in ("-I", "-D", "-U", "-i") or w.startswith("-std")]
        # Paths are as from the root of the sources.
        found = ["-I" + os.path.join(self.folder, w[2:])
                 if w.startswith("-I") else w for w in found]
        if self.is_main(path):
            found.append("-Dmain=" + self.entry(path))
        return ["-iquote", os.path.dirname(os.path.join(ROOT, path)), *found]

    @staticmethod
    def is_main(path):
        """Is it the file of a program that has its `main`?"""
        return re.search(r"(?:^|_)main\.c$", os.path.basename(path)) is not None

    @staticmethod
    def entry(path):
        """What `main` of a program below src/ is called in the library."""
        return re.sub(r"\W", "_", os.path.dirname(path)) + "_main"

    def programs(self):
        """Programs, each with its own objects; those of src/ have none but a
        jump into the library."""
        for t in self.targets:
            if t["type"] != "executable":
                continue
            place = t["filename"][0]
            name = os.path.relpath(place, self.folder)
            objects = [os.path.join(place + ".p", o)
                       for o in sorted(os.listdir(place + ".p"))
                       if o.endswith(".o")] \
                if os.path.isdir(place + ".p") else []
            mains = [p for p in self.entries if name.startswith("src/") and
                     os.path.dirname(p) == os.path.dirname(name) and
                     self.is_main(p)]
            yield name, objects, mains


def spell(words):
    return " ".join(shlex.quote(w).replace("$", "$$").replace(":", "$:")
                    for w in words)


def links():
    """Libraries from outside, as the build folder links them."""
    return ["-lcriterion", "-lisl", "-lgmp", "-lxxhash", "-ljansson",
            "-lprotobuf-c", "-lm", "-ldl", "-lpthread"]


def statements(build):
    yield RULES
    for kind, cc, flags in ((WHOLE, "gcc", PLAIN),
                            (COUNTED, "clang", COUNTING)):
        objects = []
        for path, own in sorted(build.entries.items()):
            out = os.path.join(kind, "objects", path.replace("/", "..") + ".o")
            objects.append(out)
            yield (f"build {out}: cc {os.path.join(ROOT, path)}\n cc = {cc}\n"
                   f" flags = {spell([*own, *flags])}\n")
        more = []
        if kind == COUNTED:
            more = [os.path.join(kind, "objects", "counts.o")]
            yield (f"build {more[0]}: cc {os.path.join(HERE, 'counts.c')}\n"
                   f" cc = gcc\n flags = -O2 -fPIC\n")
        yield (f"build {kind}/{LIBRARIES}/libwhole.so: so {' '.join(objects + more)}\n"
               f" name = libwhole.so\n"
               f" more = {'' if more else spell(links()[1:])}\n")
    empty = f"{WHOLE}/{LIBRARIES}/libfault.so"
    yield f"build {empty}: so {WHOLE}/empty.o\n name = libfault.so\n"
    yield (f"build {WHOLE}/empty.o: cc {WHOLE}/empty.c\n cc = gcc\n"
           f" flags = -fPIC\n")
    for name, objects, mains in build.programs():
        out = os.path.join(WHOLE, name)
        if mains:
            stub = os.path.join(WHOLE, "stub-" + name.replace("/", "-"))
            with open(stub + ".c", "w", encoding="utf-8") as f:
                own = build.entry(mains[0])
                f.write(f"int {own}(int n, char **words);\nint main(int n, "
                        f"char **words) {{ return {own}(n, words); }}\n")
            objects = [stub + ".o"]
            yield f"build {stub}.o: cc {stub}.c\n cc = gcc\n flags = -fPIC\n"
        at = f"{WHOLE}/{LIBRARIES}"
        yield (f"build {out}: exe {' '.join(objects)} || {empty} "
               f"{at}/libwhole.so\n objects = {' '.join(objects)}\n"
               f" links = -L{at} -lfault -lwhole {spell(links())} "
               f"-Wl,-rpath,{at}\n")


def prepare(build, anew):
    """Brings what is built to the state of the sources: an error, or None.  The
    library that counts stays as it was until it is built anew, with a copy of
    the sources that it was made of, so that what is known of tests stays true."""
    for folder in (WHOLE, COUNTED, FAULTY):
        os.makedirs(os.path.join(folder, "objects"), exist_ok=True)
    with open(os.path.join(WHOLE, "empty.c"), "w", encoding="utf-8"):
        pass
    for folder in (WHOLE, COUNTED):
        shutil.copy(os.path.join(build.folder, "glen-data-folder"), folder)
    text = "\n".join(statements(build))
    path = os.path.join(HOME, "build.ninja")
    if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    targets = [os.path.join(WHOLE, name) for name, _, _ in build.programs()]
    sources = os.path.join(COUNTED, "tree", "src")
    if anew or not os.path.exists(sources):
        targets.append(os.path.join(libraries(COUNTED), "libwhole.so"))
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "src"), sources)
    done = subprocess.run(["ninja", "-C", HOME, *targets], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    return done.stdout[-3000:] if done.returncode else None


def libraries(folder):
    """Where programs look for the libraries of WHOLE, COUNTED or a fault."""
    return os.path.join(folder, LIBRARIES)


def place(build, path, text, folder):
    """Makes libfault.so of a changed source file; whether it could."""
    os.makedirs(libraries(folder), exist_ok=True)
    shutil.copy(os.path.join(build.folder, "glen-data-folder"), folder)
    out = os.path.join(libraries(folder), "libfault.so")
    source = os.path.join(folder, os.path.basename(path))
    if os.path.exists(out):
        os.remove(out)
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    return not subprocess.run(
        ["gcc", *build.entries[path], *QUICK, "-shared", "-Wl,-z,lazy",
         "-Wl,-soname,libfault.so", source, "-o", out],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode
