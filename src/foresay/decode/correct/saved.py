"""A noise model as JSON: rates, shares, confusion sets, counts, weight and caution; read back the same."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from foresay import parts
from foresay.decode.correct.confusions import Confusions
from foresay.decode.correct.noise import ANY, Counted, Noise, Rates
from foresay.errors import UserError, reason

FORMAT = 1
UNITS = ("character", "word")
MOST = 10**12  # the highest count


def as_json(noise: Noise, unit: str) -> str:
    """`unit`: what was counted, `character` or `word` (whose letters are meant)."""
    return json.dumps(
        {
            "format": FORMAT,
            "unit": unit,
            "weight": noise.weight,
            "caution": noise.caution,
            "strength": noise.strength,
            "rates": asdict(noise.rates),
            "shares": noise.shares,
            "confusions": [parts.describe(source) for source in noise.confusions],
            "meant": dict(noise.counted.meant),
            "mistaken": {right: dict(own) for right, own in noise.counted.mistaken.items()},
        },
        ensure_ascii=False,
        indent=1,
    )


def read_noise(path: str | Path) -> Noise:
    """The noise that `as_json` wrote, not yet built."""
    try:
        found = json.loads(Path(path).expanduser().read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"{path} cannot be read ({reason(error)}); write one: foresay correct RUN --tune PAIRS --noise {path}"
        ) from None
    try:
        if found["format"] != FORMAT:
            raise ValueError(f"format={found['format']}; allowed: {FORMAT}")
        if found["unit"] not in UNITS:
            raise ValueError(f"unit={found['unit']}; allowed: {' or '.join(UNITS)}")
        sources = [
            parts.make("confusions", given, f"{path}: confusions.{i}") for i, given in enumerate(found["confusions"])
        ]
        return Noise(
            sources, _rates(found["rates"]), _shares(found["shares"], sources), _counted(found),
            _finite(found, "strength", above=0), _finite(found, "weight"), _finite(found, "caution"), found["unit"],
        )  # fmt: skip
    except (UserError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error) if type(error) in (UserError, ValueError) else f"{type(error).__name__}: {error}"
        raise UserError(
            f"{path} is no noise model ({what}); tune one: foresay correct RUN --tune PAIRS --noise {path}"
        ) from None


def _rates(found: dict[str, Any]) -> Rates:
    rates = Rates(**{field.name: _share(found[field.name], f"rates.{field.name}") for field in fields(Rates)})
    if rates.delete + rates.swap >= 1 or max(rates.wrong, rates.insert) >= 1:
        raise ValueError("rates of 1 or more, delete and swap together; allowed: below 1")
    return rates


def _shares(found: dict[str, Any], sources: list[Confusions]) -> dict[str, float]:
    shares = {str(name): _share(value, f"shares.{name}") for name, value in found.items()}
    unknown = set(shares) - {ANY, *(source.part_name for source in sources)}
    if unknown:
        raise ValueError(f"shares of {', '.join(sorted(unknown))}, which is none of its confusions")
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise ValueError(f"shares that sum to {sum(shares.values()):g}; allowed: 1")
    return shares


def _counted(found: dict[str, Any]) -> Counted:
    mistaken = {
        right: {wrong: _count(n, f"mistaken.{right}.{wrong}") for wrong, n in own.items()}
        for right, own in found["mistaken"].items()
    }
    meant = {unit: _count(n, f"meant.{unit}") for unit, n in found["meant"].items()}
    for right, own in mistaken.items():
        if right in own or sum(own.values()) > meant.get(right, 0):
            raise ValueError(f"mistaken.{right} is counted more often than meant.{right}, or for itself")
    return Counted(mistaken, meant)


def _share(value: Any, name: str) -> float:
    if not _is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name}={value}; allowed: 0 to 1")
    return float(value)


def _count(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
        raise ValueError(f"{name}={str(value)[:20]}; allowed: a whole number from 0 to {MOST:,}")
    return value


def _finite(found: dict[str, Any], name: str, above: float = -math.inf) -> float:
    value = found[name]
    if not (_is_number(value) and math.isfinite(value) and value > above):
        raise ValueError(f"{name}={value}; allowed: {'a number' if above == -math.inf else f'above {above:g}'}")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
