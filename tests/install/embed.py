# SPDX-License-Identifier: MIT
"""The examples of embedding, built against the prefix alone and run."""
import os
import subprocess


def megabytes(installed, command):
    """The most memory that a command had."""
    child = subprocess.Popen(command, cwd=installed.scratch,
                             env=installed.environment(),
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    installed.expect(" ".join(command), status == 0, status)
    return usage.ru_maxrss / 1024


def check_headers(installed):
    """Each public header can be included alone, from C and from C++."""
    options = f"-Wall -Wextra -Wpedantic -Werror -I {installed.file('include')}"
    for name in sorted(os.listdir(installed.file("include/glen"))):
        for compiler, end in (("cc -std=c99", "c"), ("c++", "cc")):
            installed.write("one." + end, f"#include <glen/{name}>\n"
                            "typedef int not_empty;\n")
            installed.says(f"{compiler} {options} -c one.{end} -o one.o")


def check(installed):
    says = installed.says
    for name in ("check", "map", "jit"):
        installed.copy("examples", "embed", name + ".c")
    # With --define-prefix a folder of libraries that has two parts is not found.
    moved = f"pkg-config --define-variable=prefix={installed.prefix}"
    flags = f"$({moved} --cflags --libs glen)"
    for name in ("check", "map", "jit"):
        says(f"cc -std=c99 -Wall -Wextra -Werror {name}.c -o {name} -pthread "
             f"{flags}")
    says(["./check"], out="unknown-operator 2:9-2:17 ")
    once = megabytes(installed, ["./check"])
    many = megabytes(installed, ["./check", "--many"])
    installed.expect("20,000 programs that were freed leave nothing behind",
                     many < once + 2, f"{once:.1f} MB once, {many:.1f} MB")
    says(["./map"], out="systolicArray")
    out = says(["./jit"], out="B is f32(8, 8), the array f32(8, 7)")
    installed.expect("compiled first", "compiled," in out, out)
    says(["./jit"], out="found,")
    says(["./jit", "--threads"])
    # What others may write to is not executed.
    os.chmod(os.path.join(installed.scratch, "kernels"), 0o777)
    says(["./jit"], code=1, err="[open-cache]")
    os.chmod(os.path.join(installed.scratch, "kernels"), 0o700)
    # The archive, whose other names are hidden.
    archive = installed.find("libglen.a")
    says(f"cc -std=c99 check.c -o check-static "
         f"-I {installed.file('include')} {archive} "
         f"$({moved} --static --libs glen | sed 's/-lglen//')")
    says(["./check-static"], out="unknown-operator")
    installed.write("cpp.cc", "#include <glen/glen.h>\n#include <glen/editor.h>"
                    "\nint main() { return glen_version_number() != "
                    "GLEN_VERSION_NUMBER; }\n")
    says(f"c++ -Wall -Werror cpp.cc -o cpp {flags}")
    says(["./cpp"])
    check_headers(installed)
