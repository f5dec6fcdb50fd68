"""Signatures: read off sources by hand, and held out by docstring; nothing is imported."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from foresay.data import signatures as made
from foresay.errors import UserError

CODE = '''
def join(a: str, /, b: int = 3, *rest, key: bool = True, **more) -> str:
    """Join the parts
    into one.

    More about it."""
    def inner():
        """This one is not seen."""

class Thing:
    async def fetch(self, count=None):
        """Fetch some things."""
    def __init__(self):
        """Make a new thing."""
    def short(self):
        """Too short"""

def silent(a): ...
'''


def test_pairs_by_hand() -> None:
    assert list(made.pairs_of(CODE)) == [
        ("Join the parts into one.", "join(a, /, b=3, *rest, key=True, **more)"),
        ("Fetch some things.", "fetch(self, count=None)"),
    ]


def library(folder: Path) -> None:
    folder.mkdir()
    for letter in "abcdefghijklmnopqrstuvwxyz":
        code = f'def {letter}(x): "what does {letter} do"\ndef {letter}(y): "what does {letter} do"\n'
        (folder / f"{letter}.py").write_text(code + f'def {letter}(z): "and {letter} another way"\n')
    (folder / "broken.py").write_text("def (")
    (folder / "latin.py").write_bytes(b"# \\xe9\\n".decode("unicode_escape").encode("latin-1"))
    (folder / "test").mkdir()
    (folder / "test" / "z.py").write_text('def hidden(): "stands in a test"')
    (folder / "boom.py").write_text("raise SystemExit")


def test_docstrings_are_held_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library(tmp_path / "lib")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "lib"))
    before = set(sys.modules)
    found = made.signatures.__wrapped__(1)
    assert set(sys.modules) == before
    assert {part: len(pairs) for part, pairs in found.items()} == {"test": 4, "valid": 4, "train": 44}
    assert len({text for pairs in found.values() for text, _ in pairs}) == 52
    every = sorted(pair for pairs in found.values() for pair in pairs)
    assert len(every) == 52 and every[0] == ("and a another way", "a(z)") and ("what does b do", "b(x)") in every
    assert found == made.signatures.__wrapped__(1) != made.signatures.__wrapped__(2)


def test_a_library_without_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(UserError, match="without the sources of its library; install a whole one"):
        made.signatures.__wrapped__(1)
