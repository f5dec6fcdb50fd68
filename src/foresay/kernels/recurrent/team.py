"""The threads that torch's own work runs on, for our kernels: OpenMP's team, which is awake and waiting already.

`share(work, data, threads)` runs `work(data)` on each of them and comes back when all have. Where torch was not built
with an OpenMP that speaks GNU's language (any but Linux, here) there is no team, and kernels run on one thread.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

LIBRARIES = ("libgomp", "libomp", "libiomp")
NAMES = ("GOMP_parallel", "GOMP_barrier", "omp_get_thread_num", "omp_get_num_threads")

Share = Callable[[int, int, int, int], None]  # address of the function, of its data, threads, flags


@cache
def find_team() -> dict[str, int] | None:
    """The addresses of what we call, of the library that torch has loaded; None where there is none."""
    for path in loaded():
        library = ctypes.CDLL(path)
        if all(hasattr(library, name) for name in NAMES):
            return {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in NAMES}
    return None


def loaded() -> list[str]:
    """The OpenMP libraries that this process has loaded."""
    if not sys.platform.startswith("linux"):
        return []
    files = [line.split(maxsplit=5)[-1].strip() for line in Path("/proc/self/maps").read_text().splitlines()]
    return list(dict.fromkeys(file for file in files if Path(file).name.startswith(LIBRARIES)))


@cache
def share() -> Share:
    """The call itself."""
    team = find_team()
    assert team is not None
    numbers = [ctypes.c_int64, ctypes.c_int64, ctypes.c_uint, ctypes.c_uint]
    return ctypes.CFUNCTYPE(None, *numbers)(team["GOMP_parallel"])
