"""The command line, called in this process."""

from __future__ import annotations

import io
import signal
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from foresay import cli


@dataclass(frozen=True)
class Called:
    """How a command ended and what it wrote."""

    code: int
    out: str
    error: str


class Commands:
    """`call("score", run, "text")` is `foresay score RUN text`."""

    def __init__(self, capsys: pytest.CaptureFixture[str]):
        self.capsys = capsys

    def __call__(self, *words: Any, given: bytes = b"") -> Called:
        self.capsys.readouterr()
        handler = signal.getsignal(signal.SIGTERM)
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
            patch.setattr(sys, "argv", ["foresay", *map(str, words)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8"))
            try:
                cli.main()
            finally:
                signal.signal(signal.SIGTERM, handler)
        code = ended.value.code or 0
        assert isinstance(code, int)
        return Called(code, *self.capsys.readouterr())

    def refused(self, *words: Any, given: bytes = b"") -> str:
        """The one line of a command that must end with code 2, without anything on standard output."""
        called = self(*words, given=given)
        assert called.code == 2, called
        assert called.out == "" and called.error.count("\n") == 1 and called.error.startswith("foresay: "), called
        return called.error.removeprefix("foresay: ").rstrip("\n")
