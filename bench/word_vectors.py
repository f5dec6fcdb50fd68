"""Word vectors: words a second of training against gensim, with the scores of both beside the speed.

The same text, vocabulary (words seen five times or more), d100, window 5, five drawn words, sample 1e-4, five epochs,
first rate (0.05 for CBOW, as in the original tool: gensim's default, 0.025, gives worse vectors on both sides), and
threads. gensim reads lines from a file in its fastest way (`corpus_file`). Counted are words of the text, those left
out by sampling too. Analogies: questions whose words are among the 30,000 most frequent; ratings: WordSim-353.
`hierarchical` is skip-gram with a Huffman tree. `deterministic` gives the same bytes for any number of threads: it runs
with one thread too, and its ratio is to gensim with two.

    python -m bench.word_vectors [--quick] [--only NAME ...] [--seeds N]
    python -m bench.word_vectors --gpu          d300 on a GPU against this machine's CPU, by the same code

Data: enwiki-text8-format and word-eval under FORESAY_DATA. With several seeds, times are added up and scores averaged.
"""

from __future__ import annotations

import argparse
import lzma
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench.figure import close
from foresay import parts
from foresay.data.prepare import Prepared, prepare
from foresay.models.task import Fitting
from foresay.text.tokens import SPECIALS
from foresay.vectors import questions, ratings
from foresay.vectors.word_vectors import WordVectors

AMONG = 30_000
LINE = 10_000  # words; gensim cuts there anyway
METHODS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "skip-gram": ({"predict": "skipgram", "lr": 0.025}, {"sg": 1, "negative": 5, "alpha": 0.025}),
    "CBOW": ({"predict": "cbow", "lr": 0.05}, {"sg": 0, "negative": 5, "alpha": 0.05}),
    "hierarchical": (
        {"predict": "skipgram", "loss": "hierarchical", "lr": 0.025},
        {"sg": 1, "negative": 0, "hs": 1, "alpha": 0.025},
    ),
}
THREADS = int(os.environ.get("OMP_NUM_THREADS", "") or os.cpu_count() or 1)


def text_in_lines(folder: Path, out: Path, words: int | None) -> int:
    """The text with a line every 10,000 words; how many words it has."""
    with lzma.open(folder / "enwiki-text8-format" / "enwiki.xz", "rt") as file:
        found = file.read().split()[:words]
    with out.open("w") as file:
        for at in range(0, len(found), LINE):
            file.write(" ".join(found[at : at + LINE]) + "\n")
    return len(found)


def ours(prepared: Prepared, settings: dict[str, Any], epochs: int, seed: int, **how: Any) -> tuple[float, Any]:
    """Seconds of the training, and the model."""
    torch.manual_seed(seed)
    model: Any = parts.make("task", {"kind": "word-vectors", "size": 100, "sample": 1e-4, "epochs": epochs, **settings})
    words = prepared.tokens.pieces(range(len(prepared.tokens)))
    model.build(len(words))
    model.to(how.get("device", "cpu"))
    began = time.perf_counter()
    model.fit(prepared.train, None, Fitting(words, seed, how.get("deterministic", False)))
    return time.perf_counter() - began, model


def vectors_of(prepared: Prepared, model: Any) -> WordVectors:
    first, tokens = len(SPECIALS), prepared.tokens
    matrix, counts = model.vectors[first:].cpu().numpy(), model.counts[first:].cpu().numpy()
    return WordVectors(tokens.pieces(range(first, len(tokens))), matrix, counts)


def gensims(path: Path, words: int, settings: dict[str, Any], epochs: int, seed: int) -> tuple[float, WordVectors]:
    from gensim.models import Word2Vec  # pyright: ignore[reportMissingImports]

    model = Word2Vec(
        vector_size=100, window=5, min_count=5, sample=1e-4, workers=THREADS, epochs=epochs, seed=seed, **settings
    )
    model.build_vocab(corpus_file=str(path))
    began = time.perf_counter()
    model.train(corpus_file=str(path), total_words=words, total_examples=model.corpus_count, epochs=epochs)
    return time.perf_counter() - began, WordVectors.from_gensim(model.wv)


def scores(vectors: WordVectors, folder: Path) -> tuple[float, float]:
    """Analogies and WordSim, both in percent."""
    asked = questions.read(folder / "word-eval" / "questions-words.txt")
    rated = ratings.read(folder / "word-eval" / "gensim-wordsim353.tsv")
    right = questions.evaluate(vectors, asked, among=AMONG).total
    agreement = ratings.evaluate(vectors, rated)
    assert right.accuracy is not None and agreement.spearman is not None
    return 100 * right.accuracy, 100 * agreement.spearman


@dataclass(frozen=True)
class Setting:
    """What all measurements share."""

    prepared: Prepared
    path: Path
    words: int
    epochs: int
    seeds: range
    folder: Path

    def speed(self, seconds: float) -> int:
        return round(self.words * self.epochs * len(self.seeds) / seconds)

    def mean(self, found: list[tuple[float, float]], side: str) -> dict[str, float]:
        analogies, wordsim = (round(sum(one) / len(found), 2) for one in zip(*found, strict=True))
        return {f"analogies_{side}": analogies, f"wordsim_{side}": wordsim}


def against_gensim(name: str, given: Setting, known: dict[str, Any]) -> dict[str, Any]:
    """One method; gensim's side of skip-gram stands for the deterministic one too."""
    deterministic = name == "deterministic"
    peer_name = "skip-gram" if deterministic else name
    settings, other = METHODS[peer_name]
    warm_up(settings, deterministic)
    seconds, models, peer_seconds, peers = 0.0, [], 0.0, []
    for seed in given.seeds:
        took, model = ours(given.prepared, settings, given.epochs, seed, deterministic=deterministic)
        seconds, models = seconds + took, [*models, model]
        if peer_name not in known:
            took, vectors = gensims(given.path, given.words, other, given.epochs, seed)
            peer_seconds, peers = peer_seconds + took, [*peers, scores(vectors, given.folder)]
    peer = known.setdefault(peer_name, (peer_seconds, peers))
    more: dict[str, Any] = {"losses": [round(epoch.loss, 4) for epoch in models[0].history]}
    if deterministic:
        more |= with_one_thread(given, settings, seconds, models)
    found = [scores(vectors_of(given.prepared, model), given.folder) for model in models]
    return {
        "ours": given.speed(seconds),
        "peer": given.speed(peer[0]),
        "unit": "words/s",
        "ratio": round(peer[0] / seconds, 3),
        **given.mean(found, "ours"),
        **given.mean(peer[1], "peer"),
        **more,
    }


def with_one_thread(given: Setting, settings: dict[str, Any], seconds: float, models: list[Any]) -> dict[str, Any]:
    os.environ["OMP_NUM_THREADS"] = "1"
    alone = [ours(given.prepared, settings, given.epochs, seed, deterministic=True) for seed in given.seeds]
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    same = all(torch.equal(one.vectors, model.vectors) for (_, one), model in zip(alone, models, strict=True))
    return {"to_one_thread": round(sum(took for took, _ in alone) / seconds, 3), "same_bytes": same}


def on_gpu(given: Setting) -> dict[str, Any]:
    settings = {"predict": "skipgram", "size": 300, "lr": 0.025}
    ours(given.prepared, settings, 1, 1, device="cuda")  # compiles
    ours(given.prepared, settings, 1, 1)
    seconds, model = ours(given.prepared, settings, given.epochs, 1, device="cuda")
    peer_seconds, peer = ours(given.prepared, settings, given.epochs, 1)
    return {
        "ours": given.speed(seconds),
        "peer": given.speed(peer_seconds),
        "unit": "words/s",
        "ratio": round(peer_seconds / seconds, 3),
        "epochs_alone": given.speed(model.history[-1].seconds),
        **given.mean([scores(vectors_of(given.prepared, model), given.folder)], "ours"),
        **given.mean([scores(vectors_of(given.prepared, peer), given.folder)], "peer"),
        "losses": [round(epoch.loss, 4) for epoch in model.history],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="two million words, one epoch")
    parser.add_argument("--only", nargs="*", default=[*METHODS, "deterministic"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_args()
    folder = Path(os.environ.get("FORESAY_DATA", "data"))
    if not (folder / "enwiki-text8-format").is_dir():
        sys.exit(f"no enwiki-text8-format under {folder}; set FORESAY_DATA")
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "text.txt"
        words = text_in_lines(folder, path, 2_000_000 if given.quick else None)
        tokens = parts.make("tokens", {"kind": "blanks", "size": 1_000_000, "min_count": 5})
        corpus = parts.make("data", {"kind": "text", "train": str(path), "unit": "line", "share": 0.0})
        epochs, seeds = 1 if given.quick else 5, range(1, 1 + given.seeds)
        setting = Setting(prepare(corpus, tokens, 1), path, words, epochs, seeds, folder)
        if given.gpu:
            figures["GPU, skip-gram d300"] = on_gpu(setting)
        else:
            known: dict[str, Any] = {}
            for name in given.only:
                figures[name] = against_gensim(name, setting, known)
                print(name, figures[name], flush=True)
    close(figures)


def warm_up(settings: dict[str, Any], deterministic: bool) -> None:
    """Compiles the loops, on a few words."""
    text = Few(np.random.default_rng(1).integers(len(SPECIALS), 50, 2000))
    model: Any = parts.make("task", {"kind": "word-vectors", "size": 100, "epochs": 1, **settings})
    model.build(50)
    model.fit(text, None, Fitting([""] * 50, 1, deterministic))


@dataclass(frozen=True)
class Few:
    """A text that lies in memory."""

    words: np.ndarray

    def __len__(self) -> int:
        return len(self.words)

    def slice(self, start: int, stop: int) -> np.ndarray:
        return self.words[start:stop]


if __name__ == "__main__":
    main()
