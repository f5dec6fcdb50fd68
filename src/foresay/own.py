"""A class of a user's own file, named `mycells.py:MyCell` wherever a part's name may stand.

The file is run when it is named, not before, as a module of its own. A run keeps a copy of each such file with its
SHA-256 (`code/mycells.py`); while a run is opened (`opened`), names mean these copies and nothing else, and they are
run only when the user trusts the run.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from foresay.errors import UserError, nearest

NAME = re.compile(r"(.+\.py):(\w+)")
MODULE = "foresay_own_"  # how the modules of users' files are called
FOLDER = "code"  # of a run


class CodeError(UserError):
    """A user's file cannot be run: it is not there, it fails, it was changed, or its run is not trusted."""


@dataclass(frozen=True)
class Copies:
    """The code that a run brings along."""

    run: Path
    hashes: Callable[[], Mapping[str, str]]  # code/mycells.py -> SHA-256, as the run recorded it
    trust: bool


_copies: ContextVar[Copies | None] = ContextVar("copies", default=None)
_modules: dict[tuple[str, str], ModuleType] = {}  # file as named, SHA-256 -> what it defines
_classes: dict[tuple[str, str], type] = {}  # name, SHA-256 of its file -> a class that Python has imported
_running: list[str] = []


def is_own(name: str) -> bool:
    """Whether a part's name means a class of a user's file."""
    return NAME.fullmatch(name) is not None


@contextmanager
def opened(run: Path, hashes: Callable[[], Mapping[str, str]], *, trust: bool) -> Iterator[None]:
    """While it lasts, names mean the copies in a run."""
    token = _copies.set(Copies(run, hashes, trust))
    try:
        yield
    finally:
        _copies.reset(token)


def load(name: str, where: str = "") -> type:
    """The class that `FILE.py:Class` names; the file is run, once as long as it stays the same."""
    found = NAME.fullmatch(name)
    assert found is not None
    file, wanted = found.groups()
    place = named(name, where)
    copies = _copies.get()
    path = _given(file, place) if copies is None else _copy(copies, file, place)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise CodeError(f"{place}: {path} cannot be read: {error.strerror}") from None
    digest = hashlib.sha256(source).hexdigest()
    if copies is not None and digest != copies.hashes()[f"{FOLDER}/{path.name}"]:
        raise CodeError(
            f"{path} is not the code of this run: its SHA-256 begins {digest[:12]}, the one in config.json "
            f"{copies.hashes()[f'{FOLDER}/{path.name}'][:12]}; put the file back, or train anew with it"
        )
    if (name, digest) in _classes:
        return _classes[name, digest]
    if (file, digest) not in _modules:
        _modules[file, digest] = _run(path, source, place)
    return _class_of(_modules[file, digest], wanted, file, place)


def named(name: str, where: str) -> str:
    """The setting that named a class, as one gives it: `encoder.cell=mycells.py:MyCell`."""
    return f"{where.removesuffix('.kind')}={name}" if where else name


def _given(file: str, place: str) -> Path:
    path = Path(file).expanduser()
    if not path.is_file():
        folder = next((one for one in reversed(path.parents) if not one.exists()), None)
        missing = f": there is no folder {folder}" if folder else ""
        raise CodeError(f"{place}: there is no file {file}{missing}; {_files_near(path)}")
    return path


def _files_near(path: Path) -> str:
    """The files that may be meant: those of its folder, or else those that lie here."""
    folder = next((one for one in (path.parent, Path()) if any(one.glob("*.py"))), None)
    if folder is None:
        return "no .py file lies here: write one, or give the path of yours"
    there = sorted(str(folder / one.name) for one in folder.glob("*.py"))
    return f"allowed: {', '.join(there[:5])}{nearest(str(folder / path.name), there)}"


def _copy(copies: Copies, file: str, place: str) -> Path:
    """Where a run keeps its copy of a file."""
    path = copies.run / FOLDER / Path(file).name
    recorded = [name.removeprefix(f"{FOLDER}/") for name in copies.hashes() if name.startswith(f"{FOLDER}/")]
    if path.name not in recorded:
        has = f"it has {', '.join(recorded)}" if recorded else "it has none"
        raise CodeError(
            f"{place}, but the run {copies.run} has no code of that name; {has}{nearest(path.name, recorded)}"
        )
    if not copies.trust:
        raise CodeError(
            f"{copies.run} would run code that came with it: {path} ({place}); "
            "read it, then allow it: --trust (in Python trust=True)"
        )
    return path


def _run(path: Path, source: bytes, place: str) -> ModuleType:
    """What a file defines; whatever goes wrong in it is one line that names the line."""
    module = ModuleType(f"{MODULE}{len(_modules)}_{path.stem}")
    module.__file__, module.__foresay_source__ = str(path.resolve()), source  # pyright: ignore[reportAttributeAccessIssue]
    sys.modules[module.__name__] = module
    _running.append(str(path))
    try:
        exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        if is_signal(error):
            raise
        raise CodeError(f"{place}: {told(error, path)}") from error
    finally:
        _running.pop()
    return module


def told(error: BaseException, path: Path) -> str:
    """An exception that a user's file raised, on one line: `mycells.py line 7: NameError: ...`."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path.resolve())]
    reason, line = str(error), lines[-1] if lines else None
    if isinstance(error, SyntaxError) and not lines:
        reason, line = error.msg, error.lineno
    where = f"{_here(path)} line {line}" if line else str(_here(path))
    reason = " ".join(reason.split())
    return f"{where}: {type(error).__name__}{': ' if reason else ''}{reason}"


def is_signal(error: BaseException) -> bool:
    """Whether a signal ends the program, with 128 and its number, and not a user's file."""
    return isinstance(error, SystemExit) and isinstance(error.code, int) and error.code > 128


@contextmanager
def blamed(classes: Mapping[str, type], doing: str) -> Iterator[None]:
    """An exception that comes out of the file of one of these classes becomes one line that says so."""
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        if is_signal(error):
            raise
        files = {frame.filename for frame in traceback.extract_tb(error.__traceback__)}
        for name, cls in classes.items():
            path = file_of(cls)
            if path is not None and str(path) in files:
                raise UserError(f"{name} fails {doing}: {told(error, path)}") from error
        raise


def _class_of(module: ModuleType, wanted: str, file: str, place: str) -> type:
    there = {n: c for n, c in vars(module).items() if isinstance(c, type) and c.__module__ == module.__name__}
    if wanted not in there:
        has = f"allowed: {', '.join(there)}" if there else "it defines none"
        raise CodeError(f"{place}: {file} has no class {wanted}; {has}{nearest(wanted, there)}")
    return there[wanted]


def name_of(cls: type) -> str:
    """What a class is called until it is given a name: `FILE.py:Class`, or its own name where it has no file."""
    path = None if cls.__module__.startswith("foresay.") else file_of(cls)
    if path is None:
        return cls.__name__
    return f"{_here(path)}:{cls.__qualname__}"


def _here(path: Path) -> Path:
    """A path as one would give it from the present folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def file_of(cls: type) -> Path | None:
    """The file a class was defined in, where there is one."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return Path(os.path.realpath(file)) if file and str(file).endswith(".py") else None


def sources(classes: Mapping[str, type]) -> dict[str, bytes]:
    """What a run keeps of these classes: `code/mycells.py` -> the file's bytes, as they were run."""
    found: dict[str, bytes] = {}
    for name, cls in classes.items():
        path = file_of(cls)
        if path is None or not is_own(name):
            raise UserError(
                f"{cls.__qualname__} stands in no file of its own, so that a run could not be loaded again; "
                "put the class, by itself, in a .py file and import it from there"
            )
        kept = f"{FOLDER}/{NAME.fullmatch(name)[1].rpartition('/')[2]}"  # pyright: ignore[reportOptionalSubscript]
        source = getattr(sys.modules[cls.__module__], "__foresay_source__", None) or path.read_bytes()
        if found.setdefault(kept, source) != source:
            raise UserError(f"two files of this recipe are called {Path(kept).name}; give one another name")
        _classes[name, hashlib.sha256(source).hexdigest()] = cls
    return found


def refuse_inside() -> None:
    """Stops a file that trains while it is run for its classes."""
    if _running:
        raise UserError(
            f"{_running[-1]} begins to train while it is loaded for its classes; "
            'put that under if __name__ == "__main__":'
        )
