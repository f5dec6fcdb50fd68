"""Pairs and a tokeniser -> shards of both sides, made once and kept, as prepare.py does for texts.

Every file is read whole, and every mistake in it found, before anything is written. The vocabulary is learnt from the
train part alone: one from both sides, or one from each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from foresay import parts
from foresay.data.cache import cache_folder, made_once
from foresay.data.pair_files import Pair, PairText
from foresay.data.pair_shards import PairWriter
from foresay.data.pairs import PARTS, Pairs
from foresay.data.prepare import SOURCE, Prepared, digest_of, open_prepared
from foresay.data.writer import Again, Progress
from foresay.errors import UserError
from foresay.text.tokens import UNK, Tokens

FORMAT = 1
BLOCK = 4096  # pairs encoded at a time
ANSWERS = {
    "lines": "two lines or more without a blank line between them",
    "play": "two speeches or more, each below its NAME:",
}


def prepare_pairs(
    corpus: Pairs,
    tokens: Tokens,
    seed: int,
    *,
    cache: Path | None = None,
    on_progress: Progress | None = None,
    learnt: bool = False,
) -> Prepared:
    """The shards of pairs: opened when they are there, else made; with `learnt` the vocabularies are used as they are.

    What is learnt is learnt by copies: the caller's tokenisers stay as they are.
    """
    found = corpus.find(seed)
    made = _Make(corpus, tokens, seed, found, on_progress or (lambda stage, fraction: None), learnt)
    return open_prepared(made_once(cache or cache_folder(), made.key(), made.write))


class _Make:
    """One preparation, on its way from files to shards."""

    def __init__(
        self, corpus: Pairs, tokens: Tokens, seed: int, found: dict[str, PairText], tell: Progress, learnt: bool
    ):
        self.corpus, self.seed, self.found, self.tell, self.learnt = corpus, seed, found, tell, learnt
        own = corpus.source_tokens
        self.target: Tokens = tokens if learnt else parts.anew(tokens)
        self.source: Tokens = self.target if own is None else own if learnt else parts.anew(own)
        self.digests, self.sizes = {}, {}  # of every part: SHA-256, characters
        for name, text in found.items():
            self.digests[name], self.sizes[name] = _scanned(text)

    def key(self) -> str:
        """The name of the folder: a hash of the pairs and of all that is done with them."""
        own = self.corpus.source_tokens
        tokenisers = [self.target] if own is None else [self.target, self.source]
        about = {
            "pairs": FORMAT,
            "texts": self.digests,
            "tokens": [parts.describe(one) for one in tokenisers],
            "held out": [self.corpus.share, self.seed] if self.corpus.holds_out(self.found) else None,
            "vocabulary": [digest_of(one) for one in tokenisers] if self.learnt else None,
        }
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:40]

    def write(self, folder: Path) -> None:
        if not self.learnt:
            joint = self.source is self.target
            self.target.learn(Again(lambda: self._sample(self.target, (1, 2) if joint else (2,))))
            if not joint:
                self.source.learn(Again(lambda: self._sample(self.source, (1,))))
        self.target.save(folder)
        if self.source is not self.target:
            self.source.save(folder / SOURCE)
        for name in PARTS:
            if name in self.found or (name == "valid" and self.corpus.holds_out(self.found)):
                self._encode(folder / name)

    def _sample(self, tokens: Tokens, sides: tuple[int, ...]) -> Iterator[str]:
        """The training texts of some sides, or pairs spread evenly over them when the tokeniser wants fewer."""
        total = self.sizes["train"]
        wanted = total if tokens.sample is None else min(tokens.sample, total)
        given = passed = 0
        for pair in self.corpus.pairs("train", self.seed, self.found):
            size = len(pair[1]) + len(pair[2])
            if given * total <= passed * wanted:
                yield from (str(pair[side]) for side in sides)
                given += size
            passed += size
            self.tell("learn", min(passed / max(total, 1), 1.0))

    def _encode(self, folder: Path) -> None:
        writer, done = PairWriter(folder, len(self.source), len(self.target)), 0
        sides = ((writer.source, self.source), (writer.target, self.target))
        total = self.sizes.get(folder.name, self.sizes["train"])
        for block in _blocks(self.corpus.pairs(folder.name, self.seed, self.found)):
            lines, *texts = map(list, zip(*block, strict=True))
            encoded = [tokens.encode_many(own) for (_, tokens), own in zip(sides, texts, strict=True)]
            self._check(encoded, lines, folder.name)
            writer.add(lines, [(side, own, ids) for (side, _), own, ids in zip(sides, texts, encoded, strict=True)])
            done += sum(len(text) for own in texts for text in own)
            self.tell(f"encode {folder.name}", min(done / max(total, 1), 1.0))
        if not writer.finish():
            raise UserError(
                f"data.train={self.corpus.train!r} gives no {folder.name} pairs; give more pairs, data.valid, or "
                "another data.share"
            )

    def _check(self, encoded: list[list], lines: list[int], part: str) -> None:
        """Refuses what its tokeniser makes nothing of."""
        for ids, side in zip(encoded, ("source", "target"), strict=True):
            if 0 in map(len, ids):
                line = lines[list(map(len, ids)).index(0)]
                text = self.found.get(part, self.found["train"])  # what is held out is of train
                raise UserError(
                    f"{text.name}: line {line} has a {side} without tokens; mend it, or take another tokeniser"
                )


def coverage(ids: Iterable[int], known: Iterable[bool]) -> float:
    """The share of the tokens of a source that stood in training sources; <unk> never did."""
    flags, found = list(known), list(ids)
    return sum(id != UNK and flags[id] for id in found) / max(len(found), 1)


def _blocks(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    while block := list(islice(pairs, BLOCK)):
        yield block


def _scanned(text: PairText) -> tuple[str, int]:
    """SHA-256 of all pairs, and their characters; a mistake anywhere is found here."""
    digest, size, count = hashlib.sha256(), 0, 0
    for line, source, target in text:
        digest.update(f"{line}\0{source}\0{target}\0".encode("utf-8", "surrogatepass"))
        size, count = size + len(source) + len(target), count + 1
    if not count and text.talk is not None and text.has_lines():
        raise UserError(
            f"{text.name} has lines, but none answers another; data.format={text.talk} wants {ANSWERS[text.talk]}"
        )
    if not count:
        raise UserError(f"{text.name} is empty; give lines with a source and a target")
    return digest.hexdigest(), size
