"""How the loops are compiled, and the innermost ones: of vector.py, or where numba's compiler is off of plainly.py."""

from __future__ import annotations

import importlib
from typing import Any

import numba
from numba.core import config

_OFF = bool(getattr(config, "DISABLE_JIT", False))
_innermost = importlib.import_module(f"foresay.kernels.word_vectors.{'plainly' if _OFF else 'vector'}")

# Arrays are borrowed from the caller and none is made: to count references took more than half of the time.
loop: Any = numba.njit(cache=True, nogil=True, _nrt=False)  # pyright: ignore[reportCallIssue]
inner: Any = numba.njit(cache=True, nogil=True, _nrt=False, inline="always")  # pyright: ignore[reportCallIssue]

score_three: Any = _innermost.score_three
weigh_sixteen: Any = _innermost.weigh_sixteen
push_three: Any = _innermost.push_three
add_row: Any = _innermost.add_row
ask_for: Any = _innermost.ask_for
arrive: Any = _innermost.arrive
arrived: Any = _innermost.arrived
let_others_run: Any = _innermost.let_others_run
