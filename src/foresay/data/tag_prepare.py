"""Tagged words and a tokeniser -> shards of words and of tags, made once and kept, as prepare.py does for texts.

Every file is read whole, and every mistake in it found, before anything is written. The vocabulary is learnt from the
train part alone. A word is one token: tokenisers that cut words into pieces are refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from foresay import parts
from foresay.data.cache import cache_folder, made_once
from foresay.data.prepare import Prepared, digest_of, open_prepared
from foresay.data.strange import StrangeWriter
from foresay.data.tag_files import Tagged, TagText
from foresay.data.tag_set import TagSet
from foresay.data.tag_shards import TagWriter
from foresay.data.tags import PARTS, Tags
from foresay.data.writer import Again, Progress
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS, UNK, Tokens

FORMAT = 2
BLOCK = 4096  # sentences encoded at a time


def prepare_tags(
    corpus: Tags,
    tokens: Tokens,
    seed: int,
    *,
    cache: Path | None = None,
    on_progress: Progress | None = None,
    learnt: bool = False,
) -> Prepared:
    """The shards of tagged words: opened when they are there, else made; `learnt` uses the vocabulary as it is.

    What is learnt is learnt by a copy: the caller's tokeniser stays as it is.
    """
    made = _Make(corpus, tokens, seed, on_progress or (lambda stage, fraction: None), learnt)
    return open_prepared(made_once(cache or cache_folder(), made.key(), made.write))


class _Make:
    """One preparation, on its way from files to shards."""

    def __init__(self, corpus: Tags, tokens: Tokens, seed: int, tell: Progress, learnt: bool):
        self.corpus, self.seed, self.tell, self.learnt = corpus, seed, tell, learnt
        self.tokens: Tokens = tokens if learnt else parts.anew(tokens)
        self.found = corpus.find()
        self.tags: TagSet = corpus.learn(self.found)
        self.digests, self.sizes = {}, {}  # of every part: SHA-256, sentences
        for name, text in self.found.items():
            self.digests[name], self.sizes[name] = _scanned(text)

    def key(self) -> str:
        """The name of the folder: a hash of the words and tags and of all that is done with them."""
        about = {
            "tags": FORMAT,
            "texts": self.digests,
            "tokens": parts.describe(self.tokens),
            "set": [self.tags.scheme, self.tags.names, self.corpus.read.rewrite],
            "held out": [self.corpus.share, self.seed] if self.corpus.holds_out(self.found) else None,
            "vocabulary": digest_of(self.tokens) if self.learnt else None,
        }
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:40]

    def write(self, folder: Path) -> None:
        if not self.learnt:
            self.tokens.learn(Again(lambda: (" ".join(one.words) for one in self._sentences("train"))))
        self.tokens.save(folder)
        self.tags.save(folder)
        for name in PARTS:
            if name in self.found or (name == "valid" and self.corpus.holds_out(self.found)):
                self._encode(folder / name)

    def _sentences(self, name: str) -> Iterator[Tagged]:
        return self.corpus.sentences(name, self.seed, self.tags, self.found)

    def _encode(self, folder: Path) -> None:
        text = self.found.get(folder.name, self.found["train"])
        total, done = self.sizes.get(folder.name, self.sizes["train"]), 0
        sentences, strange = self._sentences(folder.name), StrangeWriter(self.tokens)
        with TagWriter(folder, len(self.tokens), len(self.tags)) as writer:
            while block := list(islice(sentences, BLOCK)):
                words = self._ids(text.name, block)
                strange.add(words, (one.words for one in block))
                tags = [np.array([self.tags.ids[tag] for tag in one.tags], np.uint32) for one in block]
                writer.add([one.lines[0] for one in block], words, tags, [" ".join(one.words) for one in block])
                done += len(block)
                self.tell(f"encode {folder.name}", min(done / max(total, 1), 1.0))
            strange.save(folder)
            if not writer.finish():
                raise UserError(
                    f"data.train={self.corpus.train!r} gives no {folder.name} sentences; give more, data.valid, or "
                    "another data.share"
                )

    def _ids(self, name: str, block: Sequence[Tagged]) -> list[np.ndarray]:
        ids = word_ids(self.tokens, [one.words for one in block])
        for sentence, found in zip(block, ids, strict=True):
            if found is None:
                cut = next(n for n, word in enumerate(sentence.words) if word_ids(self.tokens, [[word]])[0] is None)
                raise UserError(
                    f"{name}: line {sentence.lines[cut]}: the tokens cut the word {sentence.words[cut]!r} into pieces "
                    "or to nothing, and a tag needs one whole word; set tokens=blanks"
                )
        return [found for found in ids if found is not None]


def word_ids(tokens: Tokens, sentences: Sequence[Sequence[str]]) -> list[np.ndarray | None]:
    """The ids of the words of each sentence, one a word; None where the tokeniser cuts one of them.

    A word that holds a control mark, or white space within, is unknown.
    """
    plain = [[_plain(word) for word in words] for words in sentences]
    distinct = sorted({word for words in plain for word in words if word})
    pieces = dict(zip(distinct, tokens.encode_many(distinct), strict=True))
    if any(len(ids) != 1 for ids in pieces.values()):
        whole = {word: ids for word, ids in pieces.items() if len(ids) == 1}
        return [_joined(words, whole) if all(word in whole for word in words if word) else None for words in plain]
    return [_joined(words, pieces) for words in plain]


def _joined(words: Sequence[str], pieces: dict[str, np.ndarray]) -> np.ndarray:
    return np.array([int(pieces[word][0]) if word else UNK for word in words], np.uint32)


def _plain(word: str) -> str:
    """The word, or nothing where no text gives it as one token."""
    strange = any(map(str.isspace, word)) or any(mark in word for mark in SPECIALS)
    return "" if strange else word


def _scanned(text: TagText) -> tuple[str, int]:
    """SHA-256 of all sentences, and how many there are."""
    digest, count = hashlib.sha256(), 0
    for sentence in text:
        told = "\0".join([str(sentence.lines[0]), *sentence.words, "", *sentence.tags, ""])
        digest.update(told.encode("utf-8", "surrogatepass"))
        count += 1
    if not count:
        raise UserError(f"{text.name} has no words; give lines with a word and its tag")
    return digest.hexdigest(), count
