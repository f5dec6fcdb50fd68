"""How a text becomes tokens, step by step: what `foresay tokens` shows."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foresay.errors import UserError
from foresay.study.visible import visible_text
from foresay.text.saved import open_tokens
from foresay.text.tokens import UNK, Stage, Tokens

_INDENT = 13
_BACKGROUNDS = ("black on bright_cyan", "black on bright_yellow")


@dataclass(frozen=True)
class Shown:
    """A text on its way to ids."""

    text: str
    stages: list[Stage]  # the last one is the tokens
    ids: list[int]

    @property
    def unknown(self) -> int:
        return self.ids.count(UNK)

    @property
    def bytes_per_token(self) -> float:
        """Of the text as it was given."""
        return len(self.text.encode("utf-8", "replace")) / len(self.ids) if self.ids else 0.0

    def as_dict(self) -> dict[str, Any]:
        about = {"unknown": self.unknown, "bytes_per_token": self.bytes_per_token}
        return {"text": self.text, "stages": [asdict(stage) for stage in self.stages], "ids": self.ids} | about


def tokens_of(source: str, settings: Sequence[str] = ()) -> Tokens:
    """The tokeniser of a run or a prepared text; that of a recipe or a text is learnt first, as for training."""
    folder = Path(source)
    run = [name for name in ("config.json", "recipe.yaml") if (folder / name).is_file()]
    if (folder / "text.json").is_file():
        if "config.json" in run:
            from foresay.train.folder import read_config

            read_config(folder)
        if not settings:
            return open_tokens(folder)
    elif run:
        raise UserError(f"{folder / 'text.json'} is missing, but {run[0]} is there; copy it back, or train anew")
    from foresay.ready import ready

    return ready(source, settings).tokens


def show(tokens: Tokens, text: str) -> Shown:
    """A text step by step."""
    return Shown(text, tokens.stages(text), tokens.encode(text).tolist())


def plain(shown: Shown) -> str:
    """For a pipe: a line each step, a bar between pieces, then the ids and the figures."""
    lines = [f"{stage.name:<12} {'|'.join(map(visible_text, stage.pieces))}" for stage in shown.stages]
    return "\n".join([*lines, f"{'ids':<12} {' '.join(map(str, shown.ids))}", _figures(shown)])


def coloured(shown: Shown, width: int = 80) -> Any:
    """For a terminal: every second piece on another background, unknown tokens red; lines end between pieces."""
    from rich.text import Text

    found = Text(no_wrap=True, overflow="ignore")  # its own wrapping takes blanks away
    for stage in shown.stages:
        ids = shown.ids if stage.name == "tokens" else None
        _append(found, stage.name, [visible_text(piece) for piece in stage.pieces], ids, width)
    _append(found, "ids", [f" {i} " for i in shown.ids], shown.ids, width)
    return found.append("\n".join(textwrap.wrap(_figures(shown), width)))


def _append(text: Any, name: str, pieces: list[str], ids: list[int] | None, width: int) -> None:
    """One step; a piece that does not fit into what is left of a line begins the next, one longer than it is cut."""
    from rich.cells import cell_len, chop_cells

    room = max(width - _INDENT, 2)  # a wide character needs two
    text.append(f"{name:<{_INDENT}}", "bold")
    left = room
    for i, piece in enumerate(pieces):
        style = "" if len(pieces) == 1 else _BACKGROUNDS[i % 2]
        style = "white on red" if ids is not None and ids[i] == UNK else style
        for stretch in [piece] if cell_len(piece) <= room else chop_cells(piece, room):
            if cell_len(stretch) > left:
                text.append("\n" + " " * _INDENT)
                left = room
            text.append(stretch, style)
            left -= cell_len(stretch)
    text.append("\n")


def _figures(shown: Shown) -> str:
    count = len(shown.ids)
    return f"{count} token{'s' * (count != 1)}, {shown.unknown} unknown, {shown.bytes_per_token:.2f} bytes per token"
