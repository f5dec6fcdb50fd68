"""How long torch's threads wait awake for one another: briefly, for others may need the processor.

Threads that share a product wait at its end for the slowest of them. By default they wait awake for milliseconds; where
another process has taken one of the cores, the others burn theirs meanwhile, and two trainings on two cores took ten
times as long as one after the other (docs/log.md). After ROUNDS looks they sleep. Alone that costs 2 to 7 %.

The library that makes the threads reads this once, when torch is loaded.
"""

from __future__ import annotations

import os
import sys

ROUNDS = "1000"
SETTINGS = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")  # the environment's own word on it counts


def wait_briefly() -> None:
    """Asks for it, where torch is still to be loaded and nobody has asked for anything else."""
    if "torch" not in sys.modules and not any(os.environ.get(name) for name in SETTINGS):
        os.environ[SETTINGS[0]] = ROUNDS
