"""Which fonts are installed, and which letters they have: matplotlib's own knows no Chinese."""

from __future__ import annotations

import warnings
from typing import Any

SCRIPTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Micro Hei", "SimHei", "PingFang SC")


class Font:
    """A font that is installed."""

    def __init__(self, name: str):
        from matplotlib.font_manager import FontProperties, findfont, get_font

        self.name, self.font = name, get_font(findfont(FontProperties(family=name)))

    def has(self, character: str) -> bool:
        return self.font.get_char_index(ord(character)) != 0


def installed_fonts() -> list[Font]:
    """Matplotlib's own font, and one for Chinese where one is installed."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return [Font(name) for name in ("DejaVu Sans", *SCRIPTS) if name in installed]


def can_draw(text: str, fonts: list[Font]) -> bool:
    """Whether some font has each of its characters."""
    return all(any(font.has(character) for font in fonts) for character in text)


def fit_fonts(figure: Any, *, drawn: bool = True) -> None:
    """Gives texts of a figure fonts that have their letters; says which none has, where letters are drawn."""
    from matplotlib.text import Text

    fonts = installed_fonts()
    strange = [text for text in figure.findobj(Text) if not can_draw(letters_of(text), fonts[:1])]
    for text in strange:
        text.set_fontfamily([font.name for font in fonts])
    missing = dict.fromkeys(one for text in strange for one in letters_of(text) if not can_draw(one, fonts))
    if missing and drawn:
        shown = "".join(list(missing)[:8]) + ("..." if len(missing) > 8 else "")
        warnings.warn(
            f"no font of this machine has the letters {shown}; install one, such as Noto Sans CJK, or write a .svg",
            stacklevel=3,
        )


def letters_of(text: Any) -> str:
    """What of a text leaves a mark."""
    return "".join(one for one in text.get_text() if one.isprintable() and not one.isspace())
