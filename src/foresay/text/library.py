"""Steps that another library does: its version is kept with the run, as another version may give other words."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from foresay.errors import UserError
from foresay.extras import MissingLibrary, need


def versions(steps: list[Any]) -> dict[str, str]:
    """Library -> installed version, of the steps that use one (they name it in `library`)."""
    return {step.library: metadata.version(step.library) for step in steps}


def check_versions(saved: dict[str, str], steps: list[Any], place: str) -> None:
    """Refuses a library that is missing or of another version than the one that was saved."""
    for step in steps:
        need(step.library, step.extra, f"{step.part_kind} {step.part_name}")
    for library, installed in versions(steps).items():
        wanted = saved.get(library)
        if wanted is None:
            raise UserError(f"{place} does not say which {library} it was made with; prepare or train anew")
        if wanted != installed:
            raise MissingLibrary(
                f"{place} was made with {library} {wanted}, but {installed} is installed and may give other words; "
                f"install that one: pip install {library}=={wanted}"
            )
