"""A noise model as JSON: rates, shares, confusion sets, counts, weight and caution; read back the same."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from foresay import parts
from foresay.decode.correct.noise import Counted, Noise, Rates
from foresay.errors import UserError

FORMAT = 1


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
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read ({error}); write one: foresay correct RUN --tune PAIRS --noise {path}"
        ) from None
    try:
        if found["format"] != FORMAT:
            raise UserError(f"{path} has format {found['format']}; allowed: {FORMAT}: tune it again")
        rates = Rates(**{field.name: _rate(found["rates"], field.name) for field in fields(Rates)})
        sources = [
            parts.make("confusions", given, f"{path}: confusions.{i}") for i, given in enumerate(found["confusions"])
        ]
        counted = Counted(
            {str(right): {str(o): int(n) for o, n in own.items()} for right, own in found["mistaken"].items()},
            {str(unit): int(n) for unit, n in found["meant"].items()},
        )
        shares = {str(name): float(share) for name, share in found["shares"].items()}
        return Noise(
            sources,
            rates,
            shares,
            counted,
            _number(found, "strength"),
            _number(found, "weight"),
            float(found["caution"]),
        )
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UserError(
            f"{path} is no noise model ({reason}); tune one: foresay correct RUN --tune PAIRS --noise {path}"
        ) from None


def _rate(found: dict[str, Any], name: str) -> float:
    value = float(found[name])
    if not 0 <= value < 1:
        raise ValueError(f"rates.{name}={value}; allowed: 0 to 1")
    return value


def _number(found: dict[str, Any], name: str) -> float:
    value = float(found[name])
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name}={value}; allowed: > 0")
    return value
