"""Multi30k: the recipes `translate-transformer` and `translate-rnn`, English to German and back, as they are.

Each is trained and measured on the validation text and on the tests of 2016 and 2017 by sacreBLEU (13a, cased), by a
beam of 5. The figure is BLEU on test 2016; the peer is what was published for a text-only Transformer of that task
(Wu et al. 2021: 41.02 from English to German), which nobody ran here. Everything stays in the folder; a run that is
there already is told of and not trained again. --quick takes fifty steps and twenty pairs of each text: does it run?

    FORESAY_DATA=FOLDER python -m bench.translate [--quick] [--out runs] [--at-once 2] [--only rnn] [KEY=VALUE ...]
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.commands import measured, run, train
from bench.figure import close
from foresay.data.builtin import known_pairs
from foresay.errors import UserError

RECIPES = {"transformer": "translate-transformer", "rnn": "translate-rnn"}
WAYS = {"en-de": [], "de-en": ["data.reverse=true"]}
TESTS = {"valid": "val", "2016": "test_2016_flickr", "2017": "test_2017_flickr"}
PUBLISHED = {("transformer", "en-de"): 41.02}


def figure(name: str, way: str, out: Path, folder: Path, words: list[str], limit: list[str]) -> dict[str, Any]:
    """Trains one and measures it."""
    train([RECIPES[name], *WAYS[way], *words], out)
    found: dict[str, Any] = {}
    for test, file in TESTS.items():
        pair = [word for ending in ("en", "de") for word in ("--data", str(folder / f"{file}.{ending}"))]
        judged = measured(out, *pair, "--measure", "bleu", "--measure", "chrf", *limit)
        found[test] = f"{judged['bleu']:.2f} / {judged['chrf']:.2f}"
        if test == "2016":
            found["ours"] = round(judged["bleu"], 2)
    peer = PUBLISHED.get((name, way))
    steps = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    seconds = max(line["seconds"] for line in steps)
    print(f"{name}, {way}: {found}", flush=True)
    ratio = None if peer is None else round(found["ours"] / peer, 3)
    about = {"ours": found.pop("ours"), "peer": peer, "unit": "BLEU", "ratio": ratio, "seconds of training": seconds}
    return about | {f"{test}, BLEU / chrF": one for test, one in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="fifty steps, twenty pairs")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    parser.add_argument("--at-once", type=int, default=2, help="trainings side by side")
    parser.add_argument("--only", choices=[*RECIPES, *WAYS], help="a part of it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("settings", nargs="*", help="key=value for every training")
    given = parser.parse_args()
    files = known_pairs("multi30k")
    assert files is not None
    folder = Path(files["train"][0]).parent
    os.environ["FORESAY_DATA"] = str(folder.parent.resolve())
    words = [f"seed={given.seed}", *(["train.steps=50"] if given.quick else []), *given.settings]
    limit = ["--limit", "20", "--length", "20"] if given.quick else []
    jobs = [(name, way) for name in RECIPES for way in WAYS if given.only in (None, name, way)]
    run("prepare", RECIPES["transformer"])  # once, before they all want it

    def measure(job: tuple[str, str]) -> dict[str, Any]:
        out = given.out / f"{RECIPES[job[0]]}-{job[1]}-{given.seed}"
        return figure(*job, out, folder, words, limit)

    with ThreadPoolExecutor(given.at_once) as pool:
        found = dict(zip(jobs, pool.map(measure, jobs), strict=True))
    close({f"{name}, {way}": one for (name, way), one in found.items()})


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(f"bench.translate: {error}") from None
