"""How a run of any kind is measured: on its own held-out text, or on another that is read as its own was.

The kinds differ in how another text is read (`_corpus`) and in what a limit is of (`_limited`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresay.data.advice import as_options
from foresay.data.corpus import Corpus
from foresay.data.places import own_part
from foresay.data.prepare import Prepared, prepare
from foresay.data.shards import Shards
from foresay.errors import UserError
from foresay.parts import Size, fits
from foresay.text.tokens import Tokens
from foresay.train.evaluate import Measured
from foresay.train.measure import check_positions, measure_on
from foresay.train.resume import own_prepared

if TYPE_CHECKING:
    from foresay.recipe import Recipe


class Measuring:
    """The part of a run that is measured; run.py joins it with the rest."""

    folder: Path
    recipe: Recipe
    tokens: Tokens
    model: Any

    def evaluate(
        self,
        data: str | None = None,
        *,
        split: str = "valid",
        limit: int | None = None,
        encoding: str | None = None,
        columns: Sequence[str | int] | None = None,
        rows: int | None = None,
    ) -> Any:
        """What there is to say of the run on its own held-out text (`valid` or `test`), or on another text.

        Of a language model a `Measured`, of a tagger `TagFigures`, of a classifier a `Classified`. Another text is read
        as the run's was, in `encoding` and from `columns` where these are given; of one with splits, `split` is taken.
        A stream is read in as many rows as in training, each from a fresh state, or in `rows`: 1 carries the state
        through the whole text.
        """
        batches = self.recipe.train.batches
        batches = batches if rows is None else batches.in_rows(fits(Size, rows, "rows"))
        part, prepared = self._prepared(data, split, self.reading(encoding, columns))
        shards, limit = self._limited(getattr(prepared, part), limit)
        found = measure_on(self.model, batches, shards, limit=limit)
        notes = tuple(self._notes(data, part, prepared))
        return replace(found, notes=notes) if notes and not isinstance(found, Measured) else found

    def _notes(self, data: Any, part: str, prepared: Prepared) -> Iterator[str]:
        """What a person should know of how tags and labels were read."""
        name, shards = f"data.{part}" if data is None else str(data), getattr(prepared, part)
        for note in prepared.notes if self.model.reads == "tags" else ():
            if note.startswith(f"data.{part}: "):
                yield note.replace(f"data.{part}", name, 1)
        if self.recipe.train.batches.reads == "labels" and (long := self.recipe.train.batches.too_long(shards)):
            yield cut_short(name, long, shards.documents, self.recipe.train.batches.longest)

    def reading(self, encoding: str | None = None, columns: Sequence[str | int] | None = None) -> Any:
        """How another text is read: as the run's own was, but for what is given."""
        read = self.recipe.data.read
        if encoding is not None and not hasattr(read, "encoding"):
            raise UserError(f"encoding={encoding} is for texts, and {self.folder} reads other files; leave it out")
        if columns is not None and not (hasattr(read, "columns") or hasattr(read, "column")):
            named = ", ".join(map(str, columns))
            raise UserError(
                f"columns {named}; they are for tables, and {self.folder} reads other files; leave them out"
            )
        if encoding is not None:
            read = replace(read, encoding=encoding)
        if columns is None:
            return read
        if self.model.reads == "tags" and not all(isinstance(column, int) for column in columns):
            raise UserError(
                f"columns {', '.join(map(str, columns))}; allowed: numbers from 1, the word's and the tag's"
            )
        if self.model.reads != "text":
            return replace(read, columns=list(columns))
        if len(columns) != 1:
            raise UserError(f"{len(columns)} columns are given; allowed: one, as {self.folder} reads one text")
        return replace(read, column=columns[0])

    def held_out(self, data: Any, split: str, read: Any = None) -> tuple[str, Any]:
        """Which part is meant of the run's own text or of another, read so, and its shards."""
        part, prepared = self._prepared(data, split, read)
        return part, getattr(prepared, part)

    def _prepared(self, data: Any, split: str, read: Any) -> tuple[str, Prepared]:
        """The part that is meant, and all that it is of."""
        if self.model.reads == "text":
            self._must_be_sequence()
        if split not in ("valid", "test"):
            raise UserError(f"split={split!r}; allowed: valid, test")
        if data is None and self.folder.is_file():
            raise UserError(f"{self.folder} is a file and has no text of its own; give one to measure on: --data TEXT")
        if data is None:
            prepared, part = own_prepared(self.folder, self.recipe), split
        else:
            try:
                corpus = self._corpus(data, split, read or self.recipe.data.read)
                prepared = prepare(corpus, self.tokens, self.recipe.seed, learnt=True)
            except UserError as error:  # what was given is `data`, whatever the recipe calls it
                told = as_options(str(error).replace("data.train=", "data="))
                more = "; name its own, one by one: --column NAME" if " has no column " in told else ""
                raise UserError(told + more) from None
            part = "train" if getattr(prepared, split) is None else split
        shards = getattr(prepared, part)
        if shards is None:
            noun = self.recipe.train.batches.noun
            raise UserError(f"the run has no {split} {noun}; give data.{split} in its recipe, or {noun} to measure on")
        check_positions(self.model, shards, str(data or f"data.{split}"))
        return part, prepared

    def _corpus(self, data: Any, split: str, read: Any) -> Any:
        read = replace(read, duplicates="count")
        place = str(own_part("data", data, split))
        return Corpus(train=place, unit=self.recipe.data.unit, share=0.0, read=read)

    def _limited(self, shards: Any, limit: int | None) -> tuple[Shards, int | None]:
        """What of the shards is read, and how many tokens of it at the most."""
        return shards, limit

    def _must_be_sequence(self) -> None:
        if not self.model.sequence:
            name = self.recipe.task.part_name
            use = "foresay predict" if self.model.reads in ("tags", "labels") else "foresay words"
            raise UserError(
                f"{self.folder} is of task {name}, which knows no probability of a text; use {use}, or train a "
                "language model"
            )


def cut_short(name: str, long: int, of: int, longest: int) -> str:
    """What is said of texts that are not read to their end."""
    texts, have = "text" if of == 1 else "texts", "has" if long == 1 else "have"
    many = f"{long:,} of {of:,} {texts} {have}"
    return f"{name}: {many} more than {longest} tokens; the rest is not read (train.batches.longest)"
