"""The recipes for pairs learn: a few steps on a few of their pairs beat the best guess that knows no source.

That guess is the cross-entropy of the valid targets under the symbols' shares among the training targets.
"""

from __future__ import annotations

import json
import random
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import recipe, start
from foresay.data import signatures
from foresay.data.brackets import brackets
from foresay.data.headings import headings
from foresay.data.phonemes import phonemes
from foresay.data.questions import questions
from foresay.loading import PairRun
from foresay.text.tokens import STOP, Tokens
from foresay.train.progress import Watch

SHORT = ["train.batches.tokens=250", "train.schedule.warmup=5", "train.evaluate.every=1000"]
SHORT += ["embedding.dropout=0.0", "train.save.every=1000"]


def written(folder: Path, pairs: list[tuple[str, str]], name: str) -> str:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in pairs), "utf-8")
    return str(path)


def guess(tokens: Tokens, train: list[str], valid: list[str]) -> float:
    """Nats a token of the best guess that is the same everywhere."""
    counts = np.ones(len(tokens))
    for text in train:
        np.add.at(counts, [*tokens.encode(text).tolist(), STOP], 1)
    ids = [id for text in valid for id in (*tokens.encode(text).tolist(), STOP)]
    return float(-np.log(counts / counts.sum())[ids].mean())


def library() -> dict[str, list[tuple[str, str]]]:
    """Signatures of a few modules, in the place of them all."""
    root = Path(sysconfig.get_path("stdlib"))
    files = ("argparse.py", "shutil.py", "random.py", "statistics.py", "posixpath.py", "inspect.py", "zipfile.py")
    found = [
        pair for file in files if (root / file).is_file() for pair in signatures.pairs_of((root / file).read_text())
    ]
    random.Random(1).shuffle(found)
    return {"train": found[40:], "valid": found[:40]}


def small(pairs: dict[str, list[tuple[str, str]]]) -> dict[str, list[tuple[str, str]]]:
    return {"train": pairs["train"][:1500], "valid": pairs["valid"][:60]}


def titles() -> dict[str, list[tuple[str, str]]]:
    """Some hundred pairs give nothing new to write: they are measured on some that were trained on."""
    train = headings(1)["train"][:200]
    return {"train": train, "valid": train[:40]}


CASES: list[tuple[str, Any, int, float]] = [  # recipe, pairs, steps, the share of the guess that is allowed
    ("phonemes", lambda: small(phonemes(1)), 60, 0.95),
    ("parse", lambda: small(brackets(1)), 30, 0.7),
    ("questions", lambda: small(questions(1)), 30, 0.9),
    ("code", library, 40, 0.95),
    ("summarise", titles, 40, 0.9),
]


def trained(name: str, pairs: dict[str, list[tuple[str, str]]], steps: int, folder: Path, *more: str) -> PairRun:
    words = [f"data.{part}={written(folder, own, part)}" for part, own in pairs.items()]
    made = start.train(
        name, [*words, f"train.steps={steps}", *SHORT, *more], out=folder / "run", device="cpu", watch=Watch()
    )
    assert isinstance(made, PairRun)
    return made


@pytest.mark.parametrize(("name", "pairs", "steps", "share"), CASES, ids=[case[0] for case in CASES])
def test_a_recipe_beats_the_guess(name: str, pairs: Any, steps: int, share: float, tmp_path: Path) -> None:
    made = pairs()
    run = trained(name, made, steps, tmp_path)
    best = guess(run.tokens, *([target for _, target in made[part]] for part in ("train", "valid")))
    loss = run.evaluate().loss
    assert loss < share * best
    judged = run.judge(limit=3).as_dict()
    wanted = recipe.read(name)["measures"]
    names = {"rouge": ["rouge1", "rouge2", "rougeL"]}
    assert all(one in judged for measure in wanted for one in names.get(measure, [measure]))


def test_dialogue_beats_the_guess_and_writes_nothing_when_it_is_measured(tmp_path: Path) -> None:
    lines = [
        f"{who}:\n{said}\n" for n in range(300) for who, said in (("ANN", f"what is {n % 9}?"), ("BEN", f"{n % 9}."))
    ]
    (tmp_path / "play.txt").write_text("\n".join(lines), "utf-8")
    words = ["data.train=play.txt", "train.steps=40", "tokens.size=300", *SHORT]
    run: Any = start.train("dialogue", words, out=tmp_path / "run", device="cpu", watch=Watch())
    sides = {part: [target for _, _, target in run.recipe.data.rows(part, 1)] for part in ("train", "valid")}
    assert run.evaluate().loss < 0.7 * guess(run.tokens, sides["train"], sides["valid"])
    judged = run.judge()
    assert judged.overlap is None and "perplexity" in judged.as_dict() and "exact" not in judged.as_dict()


def test_the_vocabularies_of_phonemes_are_apart(tmp_path: Path) -> None:
    pairs = {"train": [("cat", "K AE T"), ("tack", "T AE K")], "valid": [("act", "AE K T")]}
    run = trained("phonemes", pairs, 2, tmp_path)
    assert set(run.source_tokens.pieces(range(5, len(run.source_tokens)))) == set("catk")
    assert set(run.tokens.pieces(range(5, len(run.tokens)))) == {"K", "AE", "T"}
    assert run.tokens.decode(run.tokens.encode("K AE T")) == "K AE T"
