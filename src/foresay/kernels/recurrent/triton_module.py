"""Loads written Triton kernels: Triton reads a function's text from its file, so the text is put into one."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any


@lru_cache(maxsize=512)
def load(source: str) -> Any:
    """The module of this text; the same text is loaded once."""
    name = "foresay_kernels_" + hashlib.sha256(source.encode()).hexdigest()[:16]
    path = Path(_folder().name) / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Gone when the program ends."""
    return tempfile.TemporaryDirectory(prefix="foresay-")
