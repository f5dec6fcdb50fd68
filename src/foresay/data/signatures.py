"""Docstrings of the standard library -> signatures: text to code, nothing to download and nothing imported.

    Join two or more pathname components ... -> join(a, *p)

The sources of the Python that runs are parsed, in the order of their names; so another Python has other pairs. A pair
is a function's first paragraph of documentation and its name with its parameters, without their types. Of equal
docstrings the first counts, so one that is held out stands in no training pair; the name of its function may. Names
such as __init__, which would be the answer to everything, are left out.
"""

from __future__ import annotations

import ast
import functools
import random
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

from foresay.errors import UserError

LEAST, MOST, LONGEST = 3, 40, 80  # words of a docstring; characters of a signature
SHARE = 12  # one pair of so many is valid, and one test
_LEFT_OUT = {
    "site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo", "distutils", "ensurepip",
    "encodings", "pydoc_data",
}  # fmt: skip


def signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """`name(a, b=1, *rest)`, without types."""
    given = function.args
    for one in [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]:
        if one is not None:
            one.annotation = None
    return f"{function.name}({ast.unparse(given)})"


def functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a module and the methods of its classes, in order; not those inside functions."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body)


def pairs_of(code: str) -> Iterator[tuple[str, str]]:
    """Docstring and signature of every function in a source that has both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old escapes in strings
        tree = ast.parse(code)
    for function in functions(tree.body):
        words = (ast.get_docstring(function) or "").split("\n\n")[0].split()
        if len(words) >= LEAST and not function.name.startswith("__"):
            found = signature(function)
            if len(found) <= LONGEST:
                yield " ".join(words[:MOST]), found


def sources(root: Path) -> Iterator[str]:
    """The sources under a folder, in the order of their names, tests and odd ones aside."""
    for path in sorted(root.rglob("*.py")):
        if not _LEFT_OUT & set(path.relative_to(root).parts):
            try:
                yield path.read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                continue


@functools.lru_cache(maxsize=2)
def signatures(seed: int) -> dict[str, list[tuple[str, str]]]:
    """Train, valid and test of a seed."""
    found: dict[str, str] = {}
    for code in sources(Path(sysconfig.get_path("stdlib"))):
        try:
            for docstring, written in pairs_of(code):
                found.setdefault(docstring, written)
        except (SyntaxError, ValueError, RecursionError):
            continue
    held = len(found) // SHARE
    if not held:
        raise UserError("this Python comes without the sources of its library; install a whole one, or give pairs")
    pairs = list(found.items())
    random.Random(f"signatures {seed}").shuffle(pairs)
    return {"test": pairs[:held], "valid": pairs[held : 2 * held], "train": pairs[2 * held :]}
