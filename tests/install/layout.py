# SPDX-License-Identifier: MIT
"""What programs that are compiled already know of the library beside its names:
sizes and offsets of the public structs, values of the enums, and types of the
functions, as a compiler sees the installed headers.

A recorded line that changes breaks such programs, which takes another soname;
options that begin with their size may grow at their end."""
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "layout.txt")
STRUCT = re.compile(r"typedef struct (glen_\w+) \{([^{}]*)\} \1;")
ENUM = re.compile(r"typedef enum (glen_\w+) \{([^{}]*)\} \1;")
# What a change of a header has to be noticed by: (was, is, a lost line's start).
PLANTED = [
    ("uint32_t n_flags;", "uint64_t n_flags;",
     "glen_instr_options.n_flags"),
    ("  void *data;", "  int kind;\n  void *data;", "glen_array.rank"),
    ("GLEN_LIMIT = 3,", "GLEN_LIMIT = 5,", "GLEN_LIMIT"),
    ("bool glen_emit_c(", "int glen_emit_c(", "_Bool glen_emit_c("),
]


def included(include):
    """Every public header: glen.h leaves out what editors alone need."""
    names = sorted(name for name in os.listdir(os.path.join(include, "glen"))
                   if name.endswith(".h"))
    return "".join(f"#include <glen/{name}>\n" for name in names)


def preprocessed(include):
    done = subprocess.run(["cc", "-E", "-P", "-I" + include, "-x", "c", "-"],
                          input=included(include), text=True,
                          capture_output=True, check=True)
    text = re.sub(r"__attribute__ *\(\((?:[^()]|\([^()]*\))*\)\)", "",
                  done.stdout)
    return re.sub(r"\s+", " ", text)


def fields(body):
    """(name, type) of each member of a struct."""
    for one in filter(None, map(str.strip, body.split(";"))):
        first, *more = re.split(r",(?![^()]*\))", one)
        base = re.match(r"[\w ]+(?= [*(]*\w+)", first)[0]
        for text in [first, *(base + " " + other for other in more)]:
            name = re.search(r"\(\*(\w+)\)|(\w+)(?:\[[^]]*\])*$", text.strip())
            name = name[1] or name[2]
            yield name, " ".join(re.sub(rf"\b{name}\b", "", text, 1).split())


def questions(text):
    """Lines of C that print what there is to know of structs and enums."""
    for struct, body in STRUCT.findall(text):
        yield f'SAY("{struct} size %zu", sizeof({struct}))'
        for name, kind in fields(body):
            yield (f'SAY("{struct}.{name} at %zu, %zu bytes: {kind}", '
                   f"offsetof({struct}, {name}), "
                   f"sizeof((({struct} *)0)->{name}))")
    for _, body in ENUM.findall(text):
        for name in re.findall(r"\b(GLEN_\w+)", body):
            yield f'SAY("{name} = %d", (int){name})'


def functions(text):
    """Declarations of functions and of types that are neither struct nor
    enum."""
    rest = ENUM.sub("", STRUCT.sub("", text))
    return [one.strip() for one in re.findall(r"[^;{}]*;", rest)
            if re.search(r"\bglen_\w+\)?\(", one)]


def facts(include, folder):
    """All that is recorded, of the headers in a folder."""
    text = preprocessed(include)
    source, program = (os.path.join(folder, name)
                       for name in ("layout.c", "layout"))
    with open(source, "w", encoding="utf-8") as f:
        f.write(included(include) + "#include <stddef.h>\n"
                "#include <stdio.h>\n#define SAY(...) (printf(__VA_ARGS__), "
                "putchar('\\n'));\nint main(void) {\n" +
                "\n".join(questions(text)) + "\nreturn 0;\n}\n")
    subprocess.run(["cc", "-w", "-I" + include, source, "-o", program],
                   check=True)
    told = subprocess.run([program], capture_output=True, text=True, check=True)
    return told.stdout.splitlines() + sorted(functions(text))


def broken(was, now):
    """Recorded lines that no longer hold."""
    sizes = dict(re.findall(r"^(\w+) size (\d+)$", "\n".join(now), re.M))

    def grown(line):
        found = re.fullmatch(r"(\w+) size (\d+)", line)
        return (found and f"{found[1]}.size at 0, 8 bytes: size_t" in now and
                int(sizes.get(found[1], 0)) > int(found[2]))
    return [line for line in was if line not in now and not grown(line)]


def recorded():
    with open(RECORDED, encoding="utf-8") as f:
        return f.read().splitlines()


def record(installed):
    with open(RECORDED, "w", encoding="utf-8") as f:
        f.write("\n".join(facts(installed.file("include"),
                                installed.scratch)) + "\n")


def changed(installed, was, now):
    """The headers in a folder of their own, one place of them changed."""
    include = os.path.join(installed.scratch, "changed")
    shutil.rmtree(include, ignore_errors=True)
    shutil.copytree(installed.file("include"), include)
    count = 0
    for name in os.listdir(os.path.join(include, "glen")):
        path = os.path.join(include, "glen", name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        count += text.count(was)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(was, now))
    return include, count


def check(installed):
    was = recorded()
    now = facts(installed.file("include"), installed.scratch)
    lost = broken(was, now)
    installed.expect("no layout, value or type has changed "
                     "(tests/install/layout.txt)", not lost, lost[:9])
    new = [line for line in now if line not in was]
    installed.expect("what is new of them is recorded (run.py BUILD --bless)",
                     bool(lost) or not new, new[:9])
    for before, after, start in PLANTED:
        include, count = changed(installed, before, after)
        lost = broken(now, facts(include, installed.scratch))
        installed.expect(f"noticed: {after.strip()} for {before.strip()}",
                         count and any(x.startswith(start) for x in lost),
                         f"{count} places, {lost[:5]}")
    # A member more at the end of options with a size is no break.
    include, count = changed(installed, "} glen_jit_options;",
                             "  int more;\n  int most;\n} glen_jit_options;")
    lost = broken(now, facts(include, installed.scratch))
    installed.expect("options with a size may grow", count and not lost, lost)
