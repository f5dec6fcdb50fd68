"""Texts with labels and a tokeniser -> shards, made once and kept, as prepare.py does for texts.

Every file is read whole, and every mistake in it found, before anything is written. Vocabulary and labels are learnt
from the train text alone: a label that stands only in valid or test is a mistake.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from foresay import parts
from foresay.data.cache import cache_folder, made_once
from foresay.data.label_files import LabelText
from foresay.data.label_shards import LabelSet, LabelShards, LabelWriter, in_order
from foresay.data.labels import PARTS, Labels
from foresay.data.prepare import Prepared, digest_of, open_prepared
from foresay.data.writer import Again, Progress
from foresay.errors import UserError, nearest
from foresay.text.tokens import Tokens

FORMAT = 1
BLOCK = 4096  # texts encoded at a time
MOST_NAMED = 12  # labels that an error lists


def prepare_labels(
    corpus: Labels,
    tokens: Tokens,
    seed: int,
    *,
    cache: Path | None = None,
    on_progress: Progress | None = None,
    learnt: bool = False,
) -> Prepared:
    """The shards of texts with labels: opened when they are there, else made; with `learnt` for a trained model.

    A trained model's vocabulary is used as it is, and its labels (`corpus.known`) are the only ones allowed.
    """
    made = _Make(corpus, tokens, seed, on_progress or (lambda stage, fraction: None), learnt)
    prepared = open_prepared(made_once(cache or cache_folder(), made.key(), made.write))
    assert isinstance(prepared.train, LabelShards)
    labels = prepared.train.labels
    never = [name for name, count in zip(labels.names, labels.counts, strict=True) if not count]
    notes = [f"held out: every text with the label {name!r}; it cannot be learnt" for name in never if not learnt]
    return replace(prepared, notes=tuple(notes))


class _Make:
    """One preparation, on its way from tables to shards."""

    def __init__(self, corpus: Labels, tokens: Tokens, seed: int, tell: Progress, learnt: bool):
        self.corpus, self.seed, self.tell, self.learnt = corpus, seed, tell, learnt
        self.found = corpus.find(seed)
        self.tokens: Tokens = tokens if learnt else parts.anew(tokens)
        self.digests: dict[str, str] = {}
        self.sizes: dict[str, int] = {}  # characters of every part
        lines: dict[str, dict[str, int]] = {}  # the first line of every label of a part
        for name, text in self.found.items():
            self.digests[name], self.sizes[name], lines[name] = _scanned(text)
        self.names = in_order(lines["train"]) if corpus.known is None else list(corpus.known.names)
        self._check(lines)

    def _check(self, lines: dict[str, dict[str, int]]) -> None:
        """Refuses labels that nothing is learnt of, and a text with nothing to tell apart."""
        for part, found in lines.items():
            for label, line in found.items():
                if label not in self.names:
                    shown = [*self.names[:MOST_NAMED], *(["..."] if len(self.names) > MOST_NAMED else [])]
                    raise UserError(
                        f"{self.found[part].name}: line {line} has the label {label!r}, which the train text has not; "
                        f"allowed: {', '.join(shown)}{nearest(label, self.names)}"
                    )
        if len(self.names) < (1 if self.corpus.read.several else 2):
            only = (
                f"only the label {self.names[0]!r}, from line {lines['train'][self.names[0]]} on"
                if self.names
                else "no label"
            )
            raise UserError(f"{self.found['train'].name} has {only}; give texts of at least two")

    def key(self) -> str:
        """The name of the folder: a hash of the texts, their labels and all that is done with them."""
        about = {
            "labels": FORMAT,
            "texts": self.digests,
            "names": self.names,
            "several": self.corpus.read.several,
            "tokens": parts.describe(self.tokens),
            "held out": [self.corpus.share, self.seed] if self.corpus.holds_out(self.found) else None,
            "vocabulary": digest_of(self.tokens) if self.learnt else None,
        }
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:40]

    def write(self, folder: Path) -> None:
        if not self.learnt:
            self.tokens.learn(Again(self._sample))
        self.tokens.save(folder)
        counts: list[int] = []
        for name in PARTS:
            if name in self.found or (name == "valid" and self.corpus.holds_out(self.found)):
                counted = self._encode(folder / name)
                counts = counts or counted
        LabelSet(tuple(self.names), self.corpus.read.several, tuple(counts)).save(folder)

    def _sample(self) -> Iterator[str]:
        """The training texts, or texts spread evenly over them when the tokeniser wants fewer characters."""
        total = self.sizes["train"]
        wanted = total if self.tokens.sample is None else min(self.tokens.sample, total)
        given = passed = 0
        for _, text, _ in self.corpus.texts("train", self.seed, self.found):
            if given * total <= passed * wanted:
                yield text
                given += len(text)
            passed += len(text)
            self.tell("learn", min(passed / max(total, 1), 1.0))

    def _encode(self, folder: Path) -> list[int]:
        """Writes one part; how often each label stands in it."""
        name, numbers = folder.name, {label: number for number, label in enumerate(self.names)}
        writer, counts, done = LabelWriter(folder, len(self.tokens)), [0] * len(self.names), 0
        source, total = self.found.get(name, self.found["train"]), self.sizes.get(name, self.sizes["train"])
        texts = iter(self.corpus.texts(name, self.seed, self.found))
        with writer.text:
            while block := list(islice(texts, BLOCK)):
                lines, own, labels = map(list, zip(*block, strict=True))
                ids = self.tokens.encode_many(own)
                if 0 in map(len, ids):
                    line = lines[list(map(len, ids)).index(0)]
                    raise UserError(
                        f"{source.name}: line {line} has a text without tokens; mend it, or take another tokeniser"
                    )
                found = [[numbers[label] for label in each] for each in labels]
                writer.add(lines, own, ids, found)
                for number in (number for each in found for number in each):
                    counts[number] += 1
                done += sum(map(len, own))
                self.tell(f"encode {name}", min(done / max(total, 1), 1.0))
            written = writer.finish()
        if not written:
            raise UserError(
                f"data.train={self.corpus.train!r} gives no {name} texts; give more texts, data.valid, or another "
                "data.share"
            )
        return counts


def _scanned(text: LabelText) -> tuple[str, int, dict[str, int]]:
    """SHA-256 of all texts and labels, their characters, and the first line of each label; mistakes are found here."""
    digest, size, count, first = hashlib.sha256(), 0, 0, dict[str, int]()
    for line, content, labels in text:
        digest.update(json.dumps([line, content, labels]).encode())
        size, count = size + len(content), count + 1
        for label in labels:
            first.setdefault(label, line)
    if not count:
        raise UserError(f"{text.name} is empty; give lines with a text and its label")
    return digest.hexdigest(), size, first
