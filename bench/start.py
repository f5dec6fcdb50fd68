"""How long it takes to be there: `import foresay` on top of torch, and `foresay --help`.

python -m bench.start [--quick]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from typing import Any

from bench.figure import close


def seconds(command: list[str], times: int) -> float:
    """The median wall time of a command."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def import_cost(times: int) -> tuple[float, float, float]:
    """Seconds that `import foresay` adds to torch's, that naming its `train` and `load` adds, and torch's own."""
    code = (
        "import time; a = time.perf_counter(); import torch; b = time.perf_counter(); import foresay; "
        "c = time.perf_counter(); foresay.train, foresay.load; d = time.perf_counter(); print(c - b, b - a, d - b)"
    )
    rows = []
    for _ in range(times):
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        rows.append([float(x) for x in done.stdout.split()])
    bare, torch_, full = (statistics.median(column) for column in zip(*rows, strict=True))
    return bare, full, torch_


def _figure(ours: float, peer: float, limit: float) -> dict[str, Any]:
    """Seconds beside those of torch's import, or of a bare interpreter; the ratio is to the limit."""
    ratio = round(limit / max(ours, 1e-3), 2)
    return {"ours": round(ours, 3), "peer": round(peer, 3), "unit": "s", "ratio": ratio, "limit": limit}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="three times instead of nine")
    times = 3 if parser.parse_args().quick else 9
    bare_import, used, torch_ = import_cost(times)
    help_ = seconds([sys.executable, "-m", "foresay", "--help"], times)
    bare = seconds([sys.executable, "-c", "pass"], times)
    figures: dict[str, dict[str, Any]] = {
        "import foresay": _figure(bare_import, torch_, 0.3),
        "import and name train and load": _figure(used, torch_, 0.3),
        "foresay --help": _figure(help_, bare, 1.5),
    }
    close(figures)


if __name__ == "__main__":
    main()
