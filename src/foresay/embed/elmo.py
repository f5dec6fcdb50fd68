"""Vectors of words in their context, from a run of task bilm: its layers, mixed (mix.py).

    embedding: {kind: elmo, run: runs/elmo}                 alone, or beside others with `joined`

The bilm reads each row whole, <start> before and <stop> after it. It stays as it was trained (frozen) unless `thaw`:
`true`, and it learns with the task; a list, and it thaws layer by layer (Howard and Ruder 2018), the top layer after so
many batches of training, then the one below it, last what embeds its words: thaw: [200, 400, 600].
Words go to it by name: symbols of the task that its vocabulary has as its own, others as <unk> and by their letters,
which an embedding by characters reads. Its output layer is left behind.

A run with such an embedding keeps the weights among its own, and in its folder `elmo` what describes them; until it is
finished the bilm's weights lie there too. So from its beginning it can be used and resumed where the bilm's run is not.

batch (B, T) -> x (B, T, 2H), or (B, T, D + 2H) where joined.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from foresay import recipe as recipes
from foresay.data.batch import Batch
from foresay.data.strange import LONGEST, spelling
from foresay.embed.dropout import drop
from foresay.embed.embedding import Embedding
from foresay.embed.mix import How, Mix
from foresay.errors import UserError
from foresay.parts import Count, Share, part
from foresay.text.tokens import SPECIALS, UNK, Tokens
from foresay.text.word_bytes import numbered_symbols

FOLDER = "elmo"
KEPT = ("recipe.yaml", "tokenizer.json", "text.json")
WEIGHTS = "model.safetensors"
PIECES = ("characters", "bytes", "subwords", "unigram")  # tokens that are no words


@part("embedding", "elmo")
class Elmo(Embedding):
    """The mixed layers of a trained bidirectional language model."""

    wants_symbols = True
    sees_ahead = True
    symbols: Sequence[str] | None = None  # the vocabulary; given before it is built
    cut: str | None = None  # the kind of the task's tokens, where it is known
    place: Path | None = None  # where the run, or what was kept of it, lies; by default `run`
    bare = False  # True: its weights were not there, and are still to come with those of the run that uses it
    batches: Tensor  # how many it was trained on, where it thaws layer by layer
    own: Tensor  # (V,) the bilm's number of each symbol
    letters: Tensor  # (V, W) how each is spelt

    def __init__(self, run: str, mix: How = "learnt", thaw: bool | list[Count] = False, dropout: Share = 0.0) -> None:
        super().__init__()
        self.run, self.thaw, self.dropout = run, thaw, dropout
        self.learning: int | None = None  # how many layers of it learn, once that is known
        self.how: How = mix

    def build(self, vocabulary: int) -> None:
        self.folder = Path(self.run).expanduser() if self.place is None else self.place
        recipe = read(self.folder, self.run)
        self.inner: Any = recipe.task
        for module in self.inner.modules():
            if getattr(module, "pretrained", None):
                module.pretrained = None  # the weights hold what was read from there
        self.inner.embedding.build(len(recipe.tokens))
        for encoder in (self.inner.encoder, self.inner.backwards):
            encoder.build(self.inner.embedding.width)
        del self.inner.output
        self.theirs = len(recipe.tokens)
        symbols = self.symbols if self.symbols is not None else [str(number) for number in range(vocabulary)]
        self.register_buffer("own", own_numbers(recipe.tokens, symbols))
        spelt = [spelling(recipe.tokens, symbol) for symbol in symbols]
        self.register_buffer("letters", torch.from_numpy(numbered_symbols(spelt, LONGEST)))
        self._take_weights()
        self.inner.requires_grad_(bool(self.thaw))
        if isinstance(self.thaw, list):
            self._check_thaw(self.thaw)
            self.register_buffer("batches", torch.zeros((), dtype=torch.long))
        with torch.no_grad():
            widths = [h.shape[-1] for h in self.inner.eval().read(Batch(ids=torch.full((1, 1), UNK)))]
        self.mix = Mix(self.how, widths)
        self.width = self.mix.width
        known = int((self.own[len(SPECIALS) :] != UNK).sum())
        self.notes = [f"{known:,} of {vocabulary - len(SPECIALS):,} symbols are in the vocabulary of {self.run}"]
        theirs = recipe.tokens.part_name
        if self.cut in PIECES and theirs != self.cut:
            self.notes.append(
                f"warning: elmo: run={self.run!r} was trained on tokens={theirs}, and here tokens={self.cut} cuts "
                f"words into pieces that it has never met; set tokens={theirs}"
            )

    def forward(self, batch: Batch) -> Tensor:
        if batch.starts is not None:
            raise UserError("elmo reads one text a row, and rows are packed; set train.batches=buckets")
        thawed = self._thawed()
        if self.training and isinstance(self.thaw, list):
            self._let_learn(thawed)
            self.batches += 1
        with torch.set_grad_enabled(torch.is_grad_enabled() and thawed > 0):
            layers = self.inner.read(self._for_inner(batch))
        return drop(self.mix(layers), self.dropout, self.training)

    def train(self, mode: bool = True) -> Elmo:
        """A bilm that does not learn is never set to train, so that the vectors of its words stay kept."""
        self.training = mode
        for child in self.children():
            child.train(mode and (child is not self.inner or self._thawed() > 0))
        return self

    def _thawed(self) -> int:
        """How many layers learn, from the top."""
        if not isinstance(self.thaw, list):
            return int(self.thaw)
        done = int(self.batches)
        return sum(at <= done for at in self.thaw)

    @property
    def longest(self) -> int | None:
        """The most words of a row that the bilm has positions for, <start> or <stop> beside them; None: any number."""
        inner = self.inner if hasattr(self, "inner") else read(Path(self.run).expanduser(), self.run).task
        return None if inner.encoder.longest is None else inner.encoder.longest - 1

    def never_thaw(self, batches: int) -> int:
        """How many of the layers that are to learn will not, in so many batches."""
        return sum(at >= batches for at in self.thaw) if isinstance(self.thaw, list) else 0

    def _let_learn(self, thawed: int) -> None:
        """Of layers that do not learn yet nothing asks for a gradient; the optimiser has them from the start."""
        if thawed == self.learning:
            return
        self.learning = thawed
        for number, layer in enumerate(self._layers()):
            for parameter in layer:
                parameter.requires_grad_(number < thawed)

    def _layers(self) -> list[list[nn.Parameter]]:
        """The bilm's parameters: the top layer of both ways first, its embedding last."""
        ways = zip(self.inner.encoder.by_layer(), self.inner.backwards.by_layer(), strict=True)
        return [*[[*ahead, *back] for ahead, back in ways][::-1], list(self.inner.embedding.parameters())]

    def _check_thaw(self, thaw: list[int]) -> None:
        layers = len(self._layers())
        if not 0 < len(thaw) <= layers or sorted(thaw) != thaw:
            raise UserError(
                f"elmo: thaw={thaw}; allowed: true, false, or one to {layers} rising numbers of batches, for the "
                f"top layer first and last for the word vectors of {self.run}: e.g. {[200 * n for n in range(layers)]}"
            )

    def keep(self, folder: Path) -> None:
        """Copies the bilm: what describes it, and its weights for as long as the run is not finished."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*KEPT, WEIGHTS):
            if (self.folder / name).resolve() != (folder / name).resolve():
                shutil.copyfile(self.folder / name, folder / name)

    def _for_inner(self, batch: Batch) -> Batch:
        """The batch in the bilm's numbers; what it has no number for is spelt by `letters` and the batch's own."""
        words = batch.ids if batch.spelt is None else batch.spelt
        assert words is not None, "the elmo embedding reads ids"
        known = words < len(self.own)
        ids = self.own[words.where(known, UNK)]
        named = (ids != UNK) | (words == UNK)
        strange = self.letters
        if batch.characters is not None:
            wide = strange.shape[1]
            strange = torch.cat([strange, F.pad(batch.characters, (0, wide - batch.characters.shape[1]))])
        return replace(batch, ids=ids, spelt=torch.where(named, ids, words + self.theirs), characters=strange)

    def _take_weights(self) -> None:
        """The run's own tensors, where they lie there; of a run that uses this one they come with its own."""
        path = self.folder / WEIGHTS
        if not path.is_file():
            if self.place is None:
                raise UserError(f"elmo: run={self.run!r} has no {WEIGHTS}; train it to its end first")
            self.bare = True
            return
        try:
            tensors = load_file(path)
        except SafetensorError as error:
            raise UserError(f"{path} cannot be read: {error}; copy it again") from None
        mine = self.inner.state_dict()
        wrong = sorted(n for n in mine if n not in tensors or tensors[n].shape != mine[n].shape)
        if wrong:
            raise UserError(f"{path} is not of {self.folder / 'recipe.yaml'}: {wrong[0]} differs; copy both again")
        self.inner.load_state_dict({name: tensors[name] for name in mine})


def elmos(model: nn.Module) -> list[Elmo]:
    """Those of a model."""
    return [module for module in model.modules() if isinstance(module, Elmo)]


def read(folder: Path, run: str) -> Any:
    """The recipe of a run of task bilm, its tokens loaded."""
    if not (folder / "recipe.yaml").is_file():
        raise UserError(f"elmo: run={run!r} is no run; give the folder of a trained bilm: foresay train elmo")
    if (folder / "code").is_dir():
        raise UserError(f"elmo: run={run!r} brings code of its own, which is not run here; train one without")
    recipe = recipes.complete(recipes.read(folder / "recipe.yaml"))
    if recipe.task.part_name != "bilm":
        raise UserError(f"elmo: run={run!r} is of task {recipe.task.part_name}; allowed: a run of task bilm")
    recipe.tokens.load(folder)
    return recipe


def own_numbers(tokens: Tokens, symbols: Sequence[str]) -> Tensor:
    """The number that a vocabulary gives each symbol of another, <unk> where it has none; marks stay themselves."""
    found = torch.full((len(symbols),), UNK)
    found[: len(SPECIALS)] = torch.arange(len(SPECIALS))[: len(symbols)]
    for place, ids in enumerate(tokens.encode_many(list(symbols[len(SPECIALS) :])), len(SPECIALS)):
        if len(ids) == 1:
            found[place] = int(ids[0])
    return found
