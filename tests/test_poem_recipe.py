"""The recipe for poems: rows of title, author and poem, each poem a sequence of its own, one broken row among them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from foresay import start
from foresay.train.progress import Watch

SMALL = "embedding.size=16 encoder.size=32 embedding.dropout=0 encoder.dropout=0 train.steps=150 train.lr=0.02".split()  # noqa: SIM905
SMALL += ["train.batches.tokens=400", "train.evaluate.every=1000", "train.save.every=1000"]


def test_lines_of_one_length_are_learnt(tmp_path: Path) -> None:
    """The second line has as many characters as the first; which ones is by chance."""
    draw, rows = random.Random(1), []
    for number in range(1500):
        size = draw.choice((2, 4))
        lines = ["".join(draw.choices("山水云月", k=size)) for _ in range(2)]
        rows.append(f"{number}\t无名\t{lines[0]}，{lines[1]}。\n")
    rows[7] = "7\t甲\t乙\t山，水。\n"
    (tmp_path / "poems.tsv").write_text("".join(rows), "utf-8")
    settings = [f"data.train={tmp_path}/poems.tsv", "data.share=0.1", *SMALL]
    run: Any = start.train("poems", settings, out=tmp_path / "run", device="cpu", watch=Watch())
    assert len(run.tokens) == 5 + 4 + 2
    for given in ("山水，", "山水云月，"):
        texts = run.generate(given, number=20, length=12, seed=1)
        right = sum(len(text.removeprefix(given)) == len(given) for text in texts)
        assert right > 13, texts
