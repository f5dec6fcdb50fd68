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


def import_cost(times: int) -> tuple[float, float]:
    """Seconds that `import foresay` with its public names adds to `import torch`, and torch's own."""
    code = (
        "import time; a = time.perf_counter(); import torch; b = time.perf_counter(); import foresay; "
        "c = time.perf_counter(); foresay.train, foresay.load; d = time.perf_counter(); print(c - b, b - a, d - b)"
    )
    rows = []
    for _ in range(times):
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        rows.append([float(x) for x in done.stdout.split()])
    bare, torch_, full = (statistics.median(column) for column in zip(*rows, strict=True))
    print(f"import foresay alone adds {bare:.3f} s; with train and load used {full:.3f} s")
    return full, torch_


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="three times instead of nine")
    times = 3 if parser.parse_args().quick else 9
    ours, torch_ = import_cost(times)
    help_ = seconds([sys.executable, "-m", "foresay", "--help"], times)
    bare = seconds([sys.executable, "-c", "pass"], times)
    figures: dict[str, dict[str, Any]] = {
        "import": {
            "ours": round(ours, 3),
            "peer": round(torch_, 3),
            "unit": "s",
            "ratio": round(0.3 / ours, 2),
            "limit": 0.3,
        },
        "help": {
            "ours": round(help_, 3),
            "peer": round(bare, 3),
            "unit": "s",
            "ratio": round(1.5 / help_, 2),
            "limit": 1.5,
        },
    }
    close(figures)


if __name__ == "__main__":
    main()
