"""The example of docs/export.md on an exported folder, in a process that has neither Foresay nor torch."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from foresay.export.onnx.folder import write
from foresay.loading import load

pytest.importorskip("onnxruntime")
PAGE = Path(__file__).parents[3] / "docs" / "export.md"
CALL = """
import sys
sys.modules["foresay"] = sys.modules["torch"] = None
import write_text
how = ((1e-4, 1), (1e-4, 2), (2.0, 3))
found = [write_text.write("out", "the cat", length=12, temperature=t, seed=s) for t, s in how]
print("\\n--\\n".join(found))
"""


def test_it_writes_what_the_run_writes(trained: Path, tmp_path: Path):
    """Next to no temperature is greedy: the run's own text."""
    (block,) = re.findall(r"^```python\n(# write_text\.py\n.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "write_text.py").write_text(block)
    run = load(trained)
    write(run, "out")
    ended = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, check=True, cwd=tmp_path)
    one, again, other = ended.stdout.removesuffix("\n").split("\n--\n")
    assert one == again == run.generate("the cat", length=12, temperature=0)[0]
    assert other.startswith("the cat") and other != one
