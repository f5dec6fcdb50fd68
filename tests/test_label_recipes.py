"""The recipe for pairs of sentences learns: a hundred steps on few pairs are right far more often than chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foresay import start
from foresay.data.entailment import entailment
from foresay.train.progress import Watch


def test_entailment(tmp_path: Path) -> None:
    """Of the forms of a few nouns and verbs; a third is right by chance."""
    rows = [row for row in entailment(1)["train"] if "sing" not in " ".join(row) and "old" not in " ".join(row)]
    for part, many in (("train", 3000), ("valid", 300)):
        some = rows[:many] if part == "train" else rows[-many:]
        (tmp_path / f"{part}.tsv").write_text("".join("\t".join(row) + "\n" for row in some))
    words = [f"data.{part}={tmp_path}/{part}.tsv" for part in ("train", "valid")]
    words += ["data.columns=[1,2,3]", "train.steps=100", "train.evaluate.every=1000", "train.save.every=1000"]
    run: Any = start.train("entailment", words, out=tmp_path / "run", device="cpu", watch=Watch())
    found = run.evaluate().accuracy
    assert found > 0.5, found
    label, shares = run.predict("all dogs run ||| some animals move")[0]
    assert set(shares) == {"entails", "contradicts", "neutral"} and label in shares
