"""What a run begins with, and what of it stays as it is: `begin:` in a recipe.

    begin: {run: runs/lm}                                    its text is cut as that run's, and all that fits is taken
    begin: {run: runs/lm, parts: [embedding, encoder]}       these parts alone: the head begins at random
    begin: {run: runs/bilm, parts: {encoder: backwards}}     a part under another name there
    begin: {run: runs/lm, frozen: [embedding, encoder.forwards.0]}      what is taken and does not learn
    begin: {frozen: [embedding]}                             nothing is taken

A part is named by the way to it in the model, as in `foresay.load(run).model`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from foresay import parts
from foresay.errors import UserError, nearest


@dataclass(frozen=True)
class Begin:
    """The run that weights are taken from, which parts, those that do not learn, and whether its tokens are taken."""

    run: str | None = None
    parts: list[str] | dict[str, str] | None = None
    frozen: list[str] = field(default_factory=list[str])
    tokens: bool = True

    @property
    def takes_tokens(self) -> bool:
        return self.run is not None and self.tokens

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_begin(given: Any) -> Begin | None:
    """The section `begin` of a raw recipe."""
    if given is None:
        return None
    names = [one.name for one in fields(Begin)]
    if not isinstance(given, dict):
        raise UserError(f"begin={given!r}; allowed: {{run: runs/lm, ...}} with {', '.join(names)}")
    for name in given:
        if name not in names:
            near = nearest(str(name), names)
            raise UserError(f"begin.{name} is no setting of begin; allowed: {', '.join(names)}{near}")
    types = {"run": str | None, "parts": list[str] | dict[str, str] | None, "frozen": list[str], "tokens": bool}
    found = Begin(**{name: parts.fits(types[name], value, f"begin.{name}") for name, value in given.items()})
    if found.run is None and found.parts is not None:
        raise UserError("begin.parts names parts of begin.run, which is not given; give it, or leave them out")
    if found.run is None and not found.frozen:
        raise UserError("begin takes nothing and holds nothing; give begin.run or begin.frozen, or leave it out")
    return found
