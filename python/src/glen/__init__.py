# SPDX-License-Identifier: MIT
"""glen: an equality-saturation compiler for tensor kernels.

>>> import glen, numpy
>>> program = glen.parse('''
... (tensor a (shape 2 3) f32)
... (tensor b (shape 3 2) f32)
... (let product (compute dotProd
...   (cartProd (access a 1) (transpose (access b 1) (list 1 0)))))
... (output product)''')
>>> kernel = glen.compile(program)
>>> a = numpy.arange(6, dtype="f4").reshape(2, 3)
>>> kernel(a, a.T)
array([[ 5., 14.],
       [14., 50.]], dtype=float32)
"""
import os as _os
import typing as _typing

from . import _core
from ._compile import Recipe, compile, load
from ._errors import (ArrayError, CompilerError, Diagnostic, Error,
                      GlenWarning, LimitError, RefutedError)
from ._inputs import Program, RuleSet, Text, load_program, parse
from ._kernel import Argument, Kernel
from ._prove import Proof, RuleProof, prove, prove_rules
from ._saturate import Result, saturate

if _typing.TYPE_CHECKING:
    from ._tune import Tuned, canonical, layers, machine, tune

__version__: str = _core.version

__all__ = ["Argument", "ArrayError", "CompilerError", "Diagnostic", "Error",
           "GlenWarning", "Kernel", "LimitError", "Program", "Proof", "Recipe",
           "RefutedError", "Result", "RuleProof", "RuleSet", "Text", "Tuned",
           "canonical", "compile", "data", "get_include", "layers", "load",
           "load_program", "machine", "parse", "prove", "prove_rules",
           "saturate", "tune"]


_OF_TUNING = frozenset(("Tuned", "canonical", "layers", "machine", "tune"))


def __getattr__(name: str) -> _typing.Any:
    """What most programs do not need is imported when it is asked for."""
    if name in _OF_TUNING:
        from . import _tune
        return getattr(_tune, name)
    raise AttributeError(f"module 'glen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_OF_TUNING})


def data() -> str:
    """The folder of the rules and targets that come with glen."""
    return _core.data_folder()


def get_include() -> str:
    """The folder of glen's headers, for programs in C."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)),
                         "include")
