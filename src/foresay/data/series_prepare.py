"""Series -> shards, made once and kept, as prepare.py does for texts; the figures of the columns are those of train.

Files are gone through twice: checked, hashed and summed, then written. One series at a time is in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from foresay import parts
from foresay.data.cache import cache_folder, made_once
from foresay.data.prepare import Prepared, open_prepared
from foresay.data.rows import PARTS
from foresay.data.series import Series
from foresay.data.series_form import SeriesForm, Summing
from foresay.data.series_shards import SeriesWriter
from foresay.data.writer import Progress
from foresay.errors import UserError
from foresay.text.numbers import Numbers
from foresay.text.tokens import Tokens

FORMAT = 1
SHOWN = 6  # columns that a note names


class PreparingSeries:
    """One preparation; with `learnt` the columns are those of a trained model."""

    def __init__(self, corpus: Series, tokens: Tokens, seed: int, tell: Progress | None = None, learnt: bool = False):
        if not isinstance(tokens, Numbers):
            name = getattr(tokens, "part_name", type(tokens).__name__)
            raise UserError(f"tokens={name} with data.kind={corpus.part_name}; allowed: tokens=numbers")  # pyright: ignore
        self.corpus, self.seed, self.learnt, self.tell = corpus, seed, learnt, tell or (lambda stage, done: None)
        self.tokens = tokens if learnt else parts.anew(tokens)
        self.found = corpus.find(seed)
        self.counts: dict[str, int] = {}
        self.digests = {name: self._scanned(name) for name in self._parts()}
        columns = {name: text.columns for name, text in self.found.items()}
        self.form = corpus.form or self._form(columns["train"])
        for name, own in columns.items():
            if own != self.form.columns:
                whose = "the run was trained on" if corpus.form else "data.train has"
                raise UserError(
                    f"{self.found[name].name} has {', '.join(own[:SHOWN])}, and {whose} {self.form.told()}; name the "
                    "same with data.columns"
                )

    def _form(self, columns: tuple[str, ...]) -> SeriesForm:
        found = self.sums.form(columns, self.corpus.music_of(self.found), self.found["train"].name)
        return replace(found, grid=self.corpus.grid_of(found.width))

    def _parts(self) -> list[str]:
        """Those that there are; train first, for its figures."""
        held = self.corpus.holds_out(self.found)
        return [name for name in PARTS if name in self.found or (name == "valid" and held)]

    def _scanned(self, part: str) -> str:
        """SHA-256 of a part; of train the sums too."""
        digest, count = hashlib.sha256(), 0
        for _, values, begin in self.corpus.rows(part, self.seed, self.found):
            if part == "train" and not count:
                self.sums = Summing(values.shape[1])
            if part == "train":
                self.sums.add(values)
            digest.update(f"{values.shape} {begin}".encode() + values.tobytes())
            count += 1
        if not count:
            raise UserError(
                f"data.train={self.corpus.train!r} leaves nothing for {part}; give more, or data.{part}, or set "
                "data.holdout=tail"
            )
        if part == "train" and not self.learnt:
            self.found["train"].check_held()
        self.counts[part] = count
        return digest.hexdigest()

    def done(self, cache: Path | None = None) -> Prepared:
        """The shards: opened when they are there, else made."""
        prepared = open_prepared(made_once(cache or cache_folder(), self.key(), self.write))
        return replace(prepared, notes=tuple(self.notes()))

    def key(self) -> str:
        """The name of the folder: a hash of all series and of what they are like."""
        about = {"series": FORMAT, "parts": self.digests, "form": asdict(self.form)}
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:40]

    def write(self, folder: Path) -> None:
        self.tokens.save(folder)
        self.form.save(folder)
        for part, count in self.counts.items():
            with SeriesWriter(folder / part, len(self.tokens)) as writer:
                for done, row in enumerate(self.corpus.rows(part, self.seed, self.found), 1):
                    writer.add(*row)
                    self.tell(f"write {part}", done / count)
                if not writer.finish():
                    raise UserError(f"the {part} series have no number that is known; mend them, or give others")

    def notes(self) -> Iterator[str]:
        """What was read, and what was not."""
        yield from (f"data.{part}: {note}" for part, text in self.found.items() for note in text.notes)
        left: dict[str, str] = self.found["train"].left_out
        if left:
            shown = ", ".join(f"{name} ({why})" for name, why in list(left.items())[:SHOWN])
            yield f"data.train: read {self.form.told()}; left out: {shown}"
        unknown = [name for name, share in zip(self.form.columns, self.form.unknown, strict=True) if share > 0]
        if unknown and not self.learnt:
            most = max(self.form.unknown)
            yield f"data.train: up to {100 * most:.1f} % of the numbers of {', '.join(unknown[:SHOWN])} are not known"
