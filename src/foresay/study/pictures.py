"""What pictures of attention and of alignments share: how many symbols they take, their names, how they are written."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

from foresay.errors import UserError
from foresay.train.aside import write_file
from foresay.train.fonts import fit_fonts

MOST = 64  # symbols that can be read along a side
ENDINGS = (".svg", ".png")


def check_ending(path: Path, option: str = "--out", also: tuple[str, ...] = ()) -> Path:
    """A picture is SVG or PNG by its name, or what else its writer can make."""
    *most, last = (*ENDINGS, *also)
    if path.suffix.lower() not in (*most, last):
        raise UserError(f"{option} {path}; allowed: a name that ends with {', '.join(most)} or {last}")
    return path


def check_number(what: str, number: int) -> None:
    """Refuses more symbols than can be read."""
    if number > MOST:
        raise UserError(f"{what} has {number} tokens; up to {MOST} can be read in a picture: give fewer, or --json")


def write(path: Path, picture: Any) -> None:
    """matplotlib's figure as the name says, whole or not at all; the same picture gives the same bytes."""
    import matplotlib

    held, kind = io.BytesIO(), check_ending(path).suffix.lower()[1:]
    fit_fonts(picture, drawn=kind != "svg")
    with matplotlib.rc_context({"svg.hashsalt": "foresay", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a symbol in a script that the font does not have
        metadata = {"Date": None} if kind == "svg" else None
        picture.savefig(held, format=kind, dpi=130, metadata=metadata)
    write_file(path, held.getvalue())
