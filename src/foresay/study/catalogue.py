"""What there is: every part with its settings, every recipe, every known data set, read off the code itself."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from foresay import parts as register
from foresay import recipe
from foresay.data.builtin import list_data


def parts() -> list[dict[str, Any]]:
    """Every registered part: kind, name, one line on what it is, its settings with type and default."""
    found = []
    for kind in register.HOMES:
        for name in register.names(kind):
            cls = register.find(kind, name)
            settings = [setting for s in register.settings_of(cls) for setting in _settings(s)]
            found.append({"kind": kind, "name": name, "about": register.summary(cls), "settings": settings})
    return found


def recipes() -> list[dict[str, Any]]:
    return [{"kind": "recipe", "name": name, "about": about} for name, about in recipe.built_in().items()]


def data() -> list[dict[str, Any]]:
    """The built-in texts and the known data sets, with where each is looked for."""
    return [{"kind": "data"} | one for one in list_data()]


def spelt(entries: list[dict[str, Any]]) -> str:
    """The entries as text, one block each kind."""
    blocks = []
    for kind, group in itertools.groupby(entries, key=lambda entry: entry["kind"]):
        lines = [kind]
        for entry in group:
            lines.append(f"  {entry['name']}: {entry['about']}")
            if entry.get("place"):
                lines += [f"      get it: {entry['get']}", f"      looked for in {entry['place']}: {entry['state']}"]
            for setting in entry.get("settings", ()):
                default = "needed" if setting["required"] else f"default {setting['default']!r}"
                lines.append(f"      {setting['name']}: {setting['type']}; {default}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _settings(setting: register.Setting) -> list[dict[str, Any]]:
    """One setting, or those of a group by their dotted names."""
    if dataclasses.is_dataclass(setting.annotation):
        inner = [s for one in register.settings_of(setting.annotation) for s in _settings(one)]  # pyright: ignore[reportArgumentType]
        return [s | {"name": f"{setting.name}.{s['name']}"} for s in inner]
    default = None if setting.required else setting.default
    kind = register.spell(setting.annotation)
    return [{"name": setting.name, "type": kind, "default": default, "required": setting.required}]
