# SPDX-License-Identifier: MIT
"""What is public is described, and the extension is as its stub says."""
import ast
import inspect
import os
from importlib import metadata
from pathlib import Path

import glen
import pytest
from glen import _core

FOLDER = os.path.realpath(os.path.dirname(glen.__file__))


def public():
    for name in glen.__all__:
        thing = getattr(glen, name)
        yield name, thing
        if inspect.isclass(thing):
            for own, part in vars(thing).items():
                if not own.startswith("_") and (
                        inspect.isfunction(part) or isinstance(part, property)):
                    yield f"{name}.{own}", part


@pytest.mark.parametrize("name, thing", list(public()),
                         ids=lambda x: str(x)[:40])
def test_docstrings_and_annotations(name, thing):
    assert (thing.__doc__ or "").strip(), name
    function = thing.fget if isinstance(thing, property) else thing
    if inspect.isfunction(function):
        asked = [p for p in inspect.signature(function).parameters
                 if p != "self"]
        missing = {*asked, "return"} - set(function.__annotations__)
        assert not missing, missing


def test_all_names_are_there():
    assert set(glen.__all__) <= set(dir(glen))
    with pytest.raises(AttributeError):
        glen.nothing


def test_the_package_says_that_it_is_typed():
    assert os.path.exists(os.path.join(FOLDER, "py.typed"))


def test_the_stub_has_what_the_extension_has():
    with open(os.path.join(FOLDER, "_core.pyi"), encoding="utf-8") as f:
        parts = ast.parse(f.read()).body
    classes = {c.name: c for c in parts if isinstance(c, ast.ClassDef)}
    for kind in (_core.Job, _core.Kernel):
        body = classes[kind.__name__].body
        told = {n.name for n in body if isinstance(n, ast.FunctionDef)}
        told |= {n.target.id for n in body if isinstance(n, ast.AnnAssign)}
        own = {n for n in vars(kind) if not n.startswith("__")}
        assert own == {n for n in told if not n.startswith("__")}


def test_what_the_wheel_holds():
    assert os.path.exists(os.path.join(glen.data(), "rules/default.rules"))
    assert os.path.exists(os.path.join(glen.data(),
                                       "targets/systolic16.target"))
    assert os.path.exists(os.path.join(glen.get_include(), "glen/glen.h"))
    assert glen.data().startswith(FOLDER)


def test_bundled_libraries_bring_their_licences():
    files = [Path(str(f)) for f in metadata.files("glen") or []]
    bundled = [f for f in files if f.parent.name == "glen.libs"]
    licences = [f for f in files if f.name.startswith("LICENSE.")]
    assert len(licences) >= len(bundled)
    assert any(f.name == "LICENSE" for f in files)
