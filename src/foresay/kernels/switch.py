"""The switch between fast paths and their plain twins: `FORESAY_PLAIN=1` runs the plain ones."""

from __future__ import annotations

import os


def plain() -> bool:
    """True when the environment asks for the plain twins; read at each call, so a test may turn it."""
    return os.environ.get("FORESAY_PLAIN", "0") not in ("", "0")
