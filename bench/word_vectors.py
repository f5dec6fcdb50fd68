"""Word vectors: words a second of training against gensim, with the scores of both beside the speed.

The same text, vocabulary (words seen five times or more), d100, window 5, five drawn words, sample 1e-4, five epochs,
first rate (0.05 for CBOW, as in the original tool: gensim's default, 0.025, gives worse vectors on both sides), and
threads. gensim reads lines from a file in its fastest way (`corpus_file`). Counted are words of the text, those left
out by sampling too. Analogies: questions whose words are among the 30,000 most frequent; ratings: WordSim-353.
`hierarchical` is skip-gram with a Huffman tree. `deterministic` gives the same bytes for any number of threads: it runs
with one thread too, and its ratio is to gensim with two.

    python -m bench.word_vectors [--quick] [--only NAME ...]     data: enwiki-text8-format and word-eval of FORESAY_DATA
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


def ours(prepared: Prepared, settings: dict[str, Any], epochs: int, deterministic: bool = False) -> Any:
    """Seconds, vectors and the losses of each epoch."""
    torch.manual_seed(1)
    model: Any = parts.make("task", {"kind": "word-vectors", "size": 100, "sample": 1e-4, "epochs": epochs, **settings})
    words = prepared.tokens.pieces(range(len(prepared.tokens)))
    model.build(len(words))
    began = time.perf_counter()
    model.fit(prepared.train, None, Fitting(words, 1, deterministic))
    seconds = time.perf_counter() - began
    first = len(SPECIALS)
    vectors = WordVectors(words[first:], model.vectors.numpy()[first:], model.counts.numpy()[first:])
    return seconds, vectors, [epoch.loss for epoch in model.history]


def gensims(path: Path, words: int, settings: dict[str, Any], epochs: int) -> tuple[float, WordVectors]:
    from gensim.models import Word2Vec  # pyright: ignore[reportMissingImports]

    model = Word2Vec(
        vector_size=100, window=5, min_count=5, sample=1e-4, workers=THREADS, epochs=epochs, seed=1, **settings
    )
    model.build_vocab(corpus_file=str(path))
    began = time.perf_counter()
    model.train(corpus_file=str(path), total_words=words, total_examples=model.corpus_count, epochs=epochs)
    return time.perf_counter() - began, WordVectors.from_gensim(model.wv)


def scores(vectors: WordVectors, folder: Path, side: str) -> dict[str, float]:
    """In percent and as Spearman's correlation."""
    asked = questions.read(folder / "word-eval" / "questions-words.txt")
    rated = ratings.read(folder / "word-eval" / "gensim-wordsim353.tsv")
    right = questions.evaluate(vectors, asked, among=AMONG).total
    agreement = ratings.evaluate(vectors, rated)
    assert right.accuracy is not None and agreement.spearman is not None
    return {f"analogies_{side}": round(100 * right.accuracy, 2), f"wordsim_{side}": round(100 * agreement.spearman, 2)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="two million words, one epoch")
    parser.add_argument("--only", nargs="*", default=[*METHODS, "deterministic"])
    given = parser.parse_args()
    folder = Path(os.environ.get("FORESAY_DATA", "../shared/data"))
    if not (folder / "enwiki-text8-format").is_dir():
        sys.exit(f"no enwiki-text8-format under {folder}; set FORESAY_DATA")
    epochs = 1 if given.quick else 5
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "text.txt"
        words = text_in_lines(folder, path, 2_000_000 if given.quick else None)
        tokens = parts.make("tokens", {"kind": "blanks", "size": 1_000_000, "min_count": 5})
        corpus = parts.make("data", {"kind": "text", "train": str(path), "unit": "line", "share": 0.0})
        prepared = prepare(corpus, tokens, 1)
        for name in given.only:
            settings, other = METHODS.get(name, METHODS["skip-gram"])
            figures[name] = one(prepared, path, words, epochs, settings, other, folder, name == "deterministic")
            print(name, figures[name], flush=True)
    close(figures)


def one(
    prepared: Prepared,
    path: Path,
    words: int,
    epochs: int,
    settings: dict[str, Any],
    other: dict[str, Any],
    folder: Path,
    deterministic: bool,
) -> dict[str, Any]:
    warm_up(settings, deterministic)
    seconds, vectors, losses = ours(prepared, settings, epochs, deterministic)
    more: dict[str, Any] = {"losses": [round(loss, 4) for loss in losses]}
    if deterministic:
        os.environ["OMP_NUM_THREADS"] = "1"
        alone, again, _ = ours(prepared, settings, epochs, deterministic)
        os.environ["OMP_NUM_THREADS"] = str(THREADS)
        more |= {"to_one_thread": round(alone / seconds, 3), "same_bytes": bool((again.matrix == vectors.matrix).all())}
    peer_seconds, peer = gensims(path, words, other, epochs)
    return {
        "ours": round(words * epochs / seconds),
        "peer": round(words * epochs / peer_seconds),
        "unit": "words/s",
        "ratio": round(peer_seconds / seconds, 3),
        **scores(vectors, folder, "ours"),
        **scores(peer, folder, "peer"),
        **more,
    }


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
