"""The rules of the house that a machine can keep: who imports whom, no pickle, small files, cheap imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import foresay

SOURCE = Path(foresay.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
# The way the data goes: a folder imports only from those before it (and from itself).
ORDER = [
    "errors",
    "waiting",
    "extras",
    "hub",
    "own",
    "parts",
    "yaml12",
    "begin",
    "recipe",
    "recipes",
    "kernels",
    "text",
    "data",
    "counts",
    "vectors",
    "embed",
    "encode",
    "output",
]
ORDER += [
    "decode",
    "models",
    "train",
    "results",
    "measuring",
    "translate",
    "tag",
    "classify",
    "represent",
    "run",
    "media",
    "hear",
    "forecast",
    "foretold",
    "samples",
    "loading",
    "building",
    "begun",
    "checks",
    "start",
    "launch",
    "ready",
    "study",
    "export",
    "serve",
    "cli",
    "__main__",
]
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 500, 60

every = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def room(path: Path) -> str:
    """The folder or file under foresay that a file belongs to; `foresay` for the package's own __init__."""
    first = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    return "foresay" if first == "__init__" else first


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every module a file imports, with the line: at the top, in functions and for type checking alike."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: import by the full name, not with dots"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def broken_imports(here: str, tree: ast.AST) -> list[str]:
    """The imports of a room from rooms after it; `foresay` itself stands outside the order: it opens names lazily."""
    found = []
    for line, name in imported(tree):
        package, *below = name.split(".")
        if package != "foresay" or not below or below[0] not in ORDER or here == "foresay":
            continue
        if ORDER.index(below[0]) > ORDER.index(here):
            found.append(f"line {line}: {here} imports {name}, but {below[0]} comes after {here} in {' '.join(ORDER)}")
    return found


def test_every_room_has_its_place():
    assert {room(path) for path in FILES} - {"foresay"} <= set(ORDER)


@every
def test_imports_only_from_above(path):
    assert broken_imports(room(path), parse(path)) == []


@pytest.mark.parametrize(
    "line",
    [
        "from foresay.models.task import Task",
        "from foresay import models",
        "import foresay.models.task",
        "def f():\n    from foresay.models import task",
        "if TYPE_CHECKING:\n    from foresay.models.task import Task",
    ],
)
def test_the_rule_sees_every_way_to_import(line):
    (broken,) = broken_imports("decode", ast.parse(line))
    assert "decode imports foresay.models" in broken and "models comes after decode" in broken
    assert broken_imports("train", ast.parse(line)) == []


def unsafe(tree: ast.AST) -> list[str]:
    """Ways to read data that could run code from a file."""
    modules = ("pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib")
    found = [f"line {line}: {name}" for line, name in imported(tree) if name.split(".")[0] in modules]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            if name in ("torch.load", "torch.save", "numpy.load", "np.load", "yaml.unsafe_load", "yaml.full_load"):
                found.append(f"line {node.lineno}: {name}")
    taken = ("torch.load", "torch.save", "numpy.load")
    return found + [f"line {line}: {name}" for line, name in imported(tree) if name in taken]


@every
def test_nothing_is_read_that_could_run_code(path):
    assert unsafe(parse(path)) == []


@pytest.mark.parametrize(
    "line", ["import pickle", "from pickle import loads", "torch.load(f)", "np.load(f)", "from torch import load"]
)
def test_the_rule_sees_unsafe_reading(line):
    assert len(unsafe(ast.parse(line))) == 1


@every
def test_a_file_opens_with_what_it_is(path):
    text = ast.get_docstring(parse(path))
    assert text and len(text.split("\n")[0]) > 10


@every
def test_files_and_functions_are_small(path):
    lines = len(path.read_text("utf-8").splitlines())
    assert lines <= MOST_LINES, f"{path} has {lines} lines: split it by idea"
    for node in ast.walk(parse(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = node.end_lineno - node.lineno + 1
            assert length <= MOST_LINES_OF_A_FUNCTION, f"{path}: {node.name} has {length} lines: split it by idea"


@pytest.mark.parametrize("module", ["foresay", "foresay.cli", "foresay.recipe", "foresay.parts"])
def test_importing_loads_no_torch(module):
    """`import foresay` and `foresay --help` answer at once."""
    heavy = ["torch", "numpy", "matplotlib", "pydantic", "tokenizers"]
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_loads_no_torch():
    code = (
        "import sys\n"
        "from foresay import cli\n"
        "sys.argv = ['foresay', 'train', '--help']\n"
        "try:\n    cli.main()\n"
        "except SystemExit as end:\n    print(end.code, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: foresay train" in done.stdout.replace("Usage: -c", "Usage: foresay")
    assert done.stdout.strip().endswith("0 False")


def test_every_public_name_opens():
    """Also after all of Foresay is imported: the folder `train` must not take the place of the function."""
    assert set(foresay.__all__) == set(foresay._HOMES)
    for _ in range(2):
        for name in foresay.__all__:
            assert callable(getattr(foresay, name)) and getattr(foresay, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        foresay.trian  # noqa: B018
