# SPDX-License-Identifier: MIT
"""Weights that are to be refused: where the program names the file, what is
wrong, exit code 1, nothing crashed."""
import os
import subprocess
import tempfile

import files
from files import floats

FOUR = floats([1, 2, 3, 4])


def entry(dtype="F32", shape="[4]", place="[0,16]"):
    return (f'{{"w":{{"dtype":"{dtype}","shape":{shape},'
            f'"data_offsets":{place}}}}}')


def held(text):
    return files.with_header(text, FOUR)


GOOD = files.safetensors([("w", "F32", (4,), FOUR)])

# What stands behind the dtype, the bytes of the file, what is said.
NPY, SAFE = '"f.npy"', '"f.st" "w"'
CASES = [
    ('"f.bin" 0', FOUR[:15], "the file ends before they do"),
    ('"f.bin" 1', FOUR, "the file ends before they do"),
    ('"f.bin" 9223372036854775807', FOUR, "the file ends before they do"),
    ('"f.bin" 0', b"", "the file ends before they do"),
    ('"f.bin" 0', None, "No such file"),
    ('"f.bin"', FOUR, "does not say where the elements are"),
    ('"f.bin" 1.5', FOUR, "an offset or a key in quotes"),
    ('"f.bin" (a)', FOUR, "an offset or a key in quotes"),
    ('"../f.bin" 0', FOUR, "leaves the folder"),
    ('"link" 0', FOUR, "a link leads out of the folder"),
    ('"link.npy"', FOUR, "a link leads out of the folder"),
    ('"link" "w"', FOUR, "a link leads out of the folder"),
    ('"/etc/passwd" "w"', FOUR, "is absolute"),
    ('"." 0', FOUR, "folder"),
    (NPY, None, "No such file"),
    (NPY, b"", "it is empty"),
    (NPY, b"nothing of that", "not a .npy file"),
    (NPY, files.npy("<f4", (5,), FOUR + FOUR[:4]), "expected f32 (4)"),
    (NPY, files.npy("<f4", (2, 2), FOUR), "f32 (2, 2), expected f32 (4)"),
    (NPY, files.npy("<i4", (4,), FOUR), "i32 (4), expected f32 (4)"),
    (NPY, files.npy(">f4", (4,), FOUR), "'>f4' are not supported"),
    (NPY, files.npy("<f4", (4,), FOUR[:12]), "needs 16 bytes"),
    (NPY, files.npy("<f4", (4,), FOUR + b"more"), "needs 16 bytes"),
    *[(NPY, files.npy("<f4", (4,), FOUR)[:n], "f.npy") for n in (5, 9, 60)],
    (SAFE, None, "No such file"),
    (SAFE, b"", "it is empty"),
    (SAFE, b"1234567", "not a .safetensors file"),
    (SAFE, b"\xff" * 8 + FOUR, "not a .safetensors file"),
    *[(SAFE, GOOD[:n], "f.st") for n in range(9, len(GOOD), 5)],
    (SAFE, held("[]"), "an object is expected"),
    (SAFE, held("{}"), "no array with the key w"),
    (SAFE, held('{"v":1}'), "no array with the key w"),
    (SAFE, held('{"w":1}'), "an object is expected"),
    (SAFE, held('{"w":{}}'), "lacks its dtype"),
    (SAFE, held(entry() + "x"), "after the header"),
    (SAFE, held(entry()[:-1] + "," + entry()[1:]), "two arrays"),
    (SAFE, held(entry().replace("dtype", "colour")), "unknown or repeated"),
    (SAFE, held(entry(dtype="I32")), "w is I32 (4), expected f32 (4)"),
    (SAFE, held(entry(dtype="F32" * 30)), "expected f32 (4)"),
    (SAFE, held(entry(shape="[2,2]")), "w is F32 (2, 2), expected f32 (4)"),
    (SAFE, held(entry(shape="[-4]")), "not a count"),
    (SAFE, held(entry(shape="[99999999999999999999]")), "too large"),
    (SAFE, held(entry(shape="[" + "1," * 40 + "4]")), "too long"),
    # Twenty-four dimensions are the most.
    (SAFE, held(entry(shape="[" + "1," * 24 + "4]")), "too long"),
    (SAFE, held(entry(shape="[" + "1," * 23 + "4]")), "expected f32 (4)"),
    (SAFE, held(entry(place="[0,16,0]")), "too long"),
    (SAFE, held(entry(shape="4")), "a list is expected"),
    (SAFE, held(entry(place="[0]")), "lacks its dtype"),
    (SAFE, held(entry(place="[16,0]")), "not those of the array's shape"),
    (SAFE, held(entry(place="[0,12]")), "not those of the array's shape"),
    (SAFE, held(entry(place="[4,20]")), "the file ends before the array"),
    (SAFE, held(entry(place="[9223372036854775807,9223372036854775807]")),
     "not those of the array's shape"),
    (SAFE, held('{"a":' + "[" * 100000), "does not end"),
    (SAFE, held('{"a":' + "[" * 100000 + "]" * 100000 + "}"), "does not end"),
    (SAFE, held('{"\\q":1}'), "an escape in the header"),
    (SAFE, held('{"\\u12":1}'), "an escape in the header"),
    (SAFE, held('{"open'), "does not end"),
    # A key is what its escapes stand for: both are the one that is asked for.
    *[('"f.st" "k' + ("\\" + char if char in '"\\' else char) + '"',
       held(entry()[:-1].replace('"w"', f'"k\\{short}"') + "," +
            entry()[1:].replace('"w"', f'"k\\u{ord(char):04x}"')),
       "two arrays")
      for short, char in zip('"\\/nrt', '"\\/\n\r\t')],
]


def program(where):
    return (f"(tensor w (shape 4) f32 :data {where})\n"
            "(let y (compute relu (access w 1)))\n(output y)\n")


def fault_of(glen, where, data, said):
    with tempfile.TemporaryDirectory() as folder:
        name = where.split('"')[1]
        if data is not None and "/" not in name and name != ".":
            with open(os.path.join(folder, "f" + name[1:]), "wb") as f:
                f.write(data)
        for link in ("link", "link.npy"):
            if os.path.lexists(os.path.join(folder, link)):
                os.remove(os.path.join(folder, link))
            os.symlink("/etc/passwd", os.path.join(folder, link))
        with open(os.path.join(folder, "net.glen"), "w") as f:
            f.write(program(where))
        done = subprocess.run([glen, "run", "net.glen", "--interpret"],
                              cwd=folder, capture_output=True, text=True,
                              errors="replace", timeout=60)
    if done.returncode != 1:
        return f"exit code {done.returncode}: {done.stderr[:2000]}"
    if said not in done.stderr:
        return f"not said: {done.stderr[:2000]}"
    if "net.glen:1:" not in done.stderr:
        return f"not at its place: {done.stderr[:2000]}"
    return None


def check(glen):
    faults = [(c, fault_of(glen, *c)) for c in CASES]
    for (where, _, said), fault in faults:
        if fault:
            print(f"FAILED {where}, to say {said!r}: {fault}")
    failed = sum(f is not None for _, f in faults)
    return len(faults) - failed, failed
