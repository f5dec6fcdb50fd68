"""What ELMo brings: parts of speech, entities and sentiment without it and with it, over seeds, nothing from outside.

An ELMo (recipe `elmo`) is trained on WikiText-2 and on the training texts of the three tasks: the sentences of UD
English EWT and WNUT-17 and the longest phrases of SST-2, without tags and labels. Then the recipes as they are: `pos`,
`ner`, `sentiment agreement=1` without, `pos-elmo`, `ner-elmo`, `sentiment-elmo` with it, frozen. Figures are of the
test sets, in percent: accuracy, F1 of spans, accuracy; +- is the 95 % interval of the mean over seeds (t). The ratio is
how many times fewer mistakes are made (of entities: what F1 lacks to 100). Of the ELMo itself: perplexity both ways,
how often the nearest occurrence of the same word is of the same kind (`foresay senses`), and the cosine of "bear" in
the two sentences of claim same-word. Everything stays in the folder; a run that is there already is told of and not
trained again.

    FORESAY_DATA=FOLDER python -m bench.elmo [--minutes 8] [--seeds 3] [--at-once 6] [--out runs] [--only with]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

import foresay
from bench.commands import measured, run, train
from bench.figure import close
from foresay import parts
from foresay.data.builtin import known_labels, known_set
from foresay.data.pair_files import text_lines
from foresay.data.source import Reading, Source
from foresay.errors import UserError
from foresay.study.claims.same_word import EXAMPLE

DROPOUT = ["embedding.dropout=0.4", "encoder.dropout=0.4", "dropout=0.4"]
TASKS = {  # recipe without, recipe with, what is measured
    "parts of speech, EWT": (["pos"], ["pos-elmo"], "accuracy"),
    "entities, WNUT-17": (["ner"], ["ner-elmo"], "f1"),
    "sentiment, SST-2": (["sentiment", "agreement=1"], ["sentiment-elmo"], "accuracy"),
}
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def longest_phrases(phrases: Iterable[str]) -> list[str]:
    """Those that are no part of another, whole words taken."""
    known, within, kept = set(phrases), set(), []
    for phrase in sorted(known, key=lambda one: (-len(one.split()), one)):
        if phrase in within:
            continue
        kept.append(phrase)
        words = phrase.split()
        for begin in range(len(words)):
            for end in range(begin + 1, len(words) + 1):
                part = " ".join(words[begin:end])
                if part in known:
                    within.add(part)
    return kept


def task_lines() -> list[str]:
    """The words of the tasks' training texts."""
    lines = []
    for name in ("ud-english-ewt", "wnut17"):
        text = parts.make("data", {"kind": "tags", "train": name}).brought(name, "train", 1)
        lines += [" ".join(sentence.words) for sentence in text]
    files = known_labels("sst2")
    assert files is not None
    read = Reading(format="text")
    rows = list(text_lines(Source("sst2", files["train"], read=read)))[1:]
    return lines + longest_phrases(row.split("\t")[1].strip() for row in rows)


def trained(words: Sequence[str], out: Path) -> dict[str, Any]:
    """Trains unless it is there, and measures on test."""
    train(words, out)
    return measured(out, "--split", "test")


def mean_and_interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half of its 95 % interval."""
    return statistics.mean(values), STUDENT[len(values)] * statistics.stdev(values) / math.sqrt(len(values))


def elmo(out: Path, minutes: float, more: Sequence[str]) -> dict[str, Any]:
    """Trains one in a folder named as the recipes name it."""
    texts = known_set("wikitext-2")
    assert texts is not None
    train, valid, test = map(str, texts)
    own = out.parent / "tasks.txt"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("\n".join(task_lines()) + "\n", "utf-8")
    data = [f"data.train={json.dumps([train, str(own)])}", f"data.valid={valid}", f"data.test={test}"]
    words = ["elmo", *data, "train.precision=bfloat16", "train.evaluate.every=2500", *DROPOUT, *more]
    return trained([*words, "--minutes", str(minutes)], out)


def tell_apart(folder: Path) -> None:
    """Prints whether the vectors of a word tell its kinds and senses apart, of every layer."""
    found = json.loads(run("senses", str(folder), "ud-english-ewt", "--tags", "NOUN,VERB", "--json"))
    layers = [f"{one['nearest']:.1f} % (by chance {one['chance']:.1f})" for one in found["layers"]]
    print(f"nearest occurrence of the same kind, layer by layer: {', '.join(layers)}")
    one, other = (
        [layer[text.tokens.index("bear")] for layer in text.layers]
        for text in foresay.load(folder).embed(list(EXAMPLE))
    )
    near = [f"{float(torch.cosine_similarity(a, b, 0)):.2f}" for a, b in zip(one, other, strict=True)]
    print(f"cosine of bear in {' / '.join(EXAMPLE)!r}, layer by layer: {', '.join(near)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=8.0, help="of training the ELMo")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=6, help="taggers and classifiers that are trained side by side")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    parser.add_argument("--only", choices=["with", "without", "elmo"], help="a part of it")
    parser.add_argument("settings", nargs="*", help="key=value for the ELMo")
    given = parser.parse_args()
    if not 2 <= given.seeds <= max(STUDENT):
        parser.error(f"--seeds {given.seeds}; allowed: 2 to {max(STUDENT)}")
    if given.out.name != "runs":
        parser.error(f"--out {given.out}; allowed: a folder called runs, for the recipes look for runs/elmo")
    if os.environ.get("FORESAY_DATA"):
        os.environ["FORESAY_DATA"] = str(Path(os.environ["FORESAY_DATA"]).resolve())
    given.out.mkdir(parents=True, exist_ok=True)
    given.out = given.out.resolve()
    os.chdir(given.out.parent)
    if given.only != "without":
        found = elmo(given.out / "elmo", given.minutes, given.settings)
        print("ELMo, perplexity on test:", {key: found[key] for key in found if key.endswith(("perplexity", "wards"))})
        tell_apart(given.out / "elmo")
    sides = {"without": 0, "with": 1}
    wanted = [] if given.only == "elmo" else [side for side in sides if given.only in (None, side)]
    jobs = [(task, side, seed) for side in wanted for task in TASKS for seed in range(1, given.seeds + 1)]

    def measure(job: tuple[str, str, int]) -> float:
        task, side, seed = job
        words, measured = TASKS[task][sides[side]], TASKS[task][2]
        result = trained([*words, f"seed={seed}"], given.out / f"{words[0]}-{seed}")
        found = 100 * (result["spans"]["f1"] if measured == "f1" else result[measured])
        print(f"{task}, {side}, seed {seed}: {found:.2f} %", flush=True)
        return found

    with ThreadPoolExecutor(given.at_once) as pool:
        values = dict(zip(jobs, pool.map(measure, jobs), strict=True))
    figures = {}
    for task in TASKS if wanted else ():
        own = {side: [values[task, side, seed] for seed in range(1, given.seeds + 1)] for side in wanted}
        means = {side: mean_and_interval(found) for side, found in own.items()}
        ratio = (100 - means["without"][0]) / (100 - means["with"][0]) if len(wanted) == 2 else None
        figures[task] = {
            "ours": round(means["with"][0], 2) if "with" in means else None,
            "peer": round(means["without"][0], 2) if "without" in means else None,
            "unit": "%",
            "ratio": None if ratio is None else round(ratio, 3),
            "error less": None if ratio is None else f"{100 * (1 - 1 / ratio):.1f} %",
        } | {f"{side}, +-": f"{[round(v, 2) for v in own[side]]} +- {means[side][1]:.2f}" for side in wanted}
    close(figures)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(f"bench.elmo: {error}") from None
