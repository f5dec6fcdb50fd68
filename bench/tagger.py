"""Training and using a tagger: Foresay's biLSTM with a CRF against pytorch-crf over torch.nn.LSTM, on the CPU.

Recipe `pos` without letters on UD English EWT: the same sentences, batches, first weights, sizes, optimiser (AdamW,
fused), rate, clipping and dropout on both sides, which take turns in one process. The peer packs its padded rows, as it
must to compute the same (`packed`); that its LSTM reads padding too, which is faster and computes something else,
stands beside it (`padded`). Accuracy is on test, after the timed steps. Where the time goes is measured piece by piece,
forwards and backwards; the rest is making batches, clipping and the optimiser.

    FORESAY_DATA=FOLDER python -m bench.tagger [--quick]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torchcrf import CRF

from bench.figure import close, in_turn
from foresay import recipe as recipes
from foresay.building import build
from foresay.data.batch import Batch
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.models.tagger import Tagger
from foresay.text.tokens import UNK
from foresay.train.loop import Trainer
from foresay.train.progress import Watch

WORDS_ALONE = ["embedding={kind: lookup, size: 100, dropout: 0.3}", "unknown=0.03"]
CHUNK = 10  # steps in a turn
PREDICT = 4096  # words in a batch to be tagged


class Plain(nn.Module):
    """The tagger people write by hand, with Foresay's first weights."""

    def __init__(self, model: Tagger, *, packed: bool):
        super().__init__()
        table, encoder, kinds = model.embedding.weight(), model.encoder, model.kinds
        self.packed, self.unknown = packed, model.unknown
        self.dropouts = (getattr(model.embedding, "dropout", 0.0), model.dropout)
        self.embedding = nn.Embedding(*table.shape)
        self.lstm = nn.LSTM(table.shape[1], encoder.width // 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(encoder.width, kinds)
        self.crf = CRF(kinds, batch_first=True)
        with torch.no_grad():
            self.embedding.weight.copy_(table)
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                getattr(self.lstm, f"{name}_l0").copy_(getattr(encoder.forwards[0], name))
                getattr(self.lstm, f"{name}_l0_reverse").copy_(getattr(encoder.backwards[0], name))
            self.head.load_state_dict(model.head.state_dict())
            for parameter in self.crf.parameters():
                parameter.zero_()

    def embed(self, batch: Batch) -> Tensor:
        ids = batch.ids
        assert ids is not None
        if self.training:
            ids = ids.masked_fill(torch.rand(ids.shape) < self.unknown, UNK)
        return F.dropout(self.embedding(ids), self.dropouts[0], self.training)

    def encode(self, x: Tensor, batch: Batch) -> Tensor:
        if batch.mask is None or not self.packed:
            return self.lstm(x)[0]
        sizes = batch.mask.sum(1)
        rows = pack_padded_sequence(x, sizes, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(rows)[0], batch_first=True, total_length=x.shape[1])[0]

    def score(self, y: Tensor) -> Tensor:
        return self.head(F.dropout(y, self.dropouts[1], self.training))

    def loss_of(self, scores: Tensor, batch: Batch) -> Tensor:
        assert batch.targets is not None
        words = batch.targets.numel() if batch.mask is None else batch.mask.sum()
        return -self.crf(scores, batch.targets, mask=batch.mask, reduction="sum") / words

    @torch.no_grad()
    def tags(self, batch: Batch) -> list[list[int]]:
        return self.crf.decode(self.score(self.encode(self.embed(batch), batch)), mask=batch.mask)


class Ours:
    """The pieces of Foresay's tagger by the same names, for their time alone."""

    def __init__(self, model: Tagger):
        self.model = model

    def embed(self, batch: Batch) -> Tensor:
        return self.model.embedding(batch)

    def encode(self, x: Tensor, batch: Batch) -> Tensor:
        return self.model.encoder(x, batch.mask)[0]

    def score(self, y: Tensor) -> Tensor:
        return self.model.head(F.dropout(y, self.model.dropout, self.model.training))

    def loss_of(self, scores: Tensor, batch: Batch) -> Tensor:
        return self.model.loss_of(scores, batch)

    def tags(self, batch: Batch) -> list[list[int]]:
        best = self.model.best(batch).tolist()
        return (
            best if batch.mask is None else [row[:n] for row, n in zip(best, batch.mask.sum(1).tolist(), strict=True)]
        )


class OurLoop:
    """Steps of Foresay's own trainer."""

    def __init__(self, trainer: Trainer):
        self.trainer, self.step, self.losses = trainer, 0, [0.0]

    def __call__(self) -> None:
        for _ in range(CHUNK):
            self.losses.append(self.trainer.train_step([self.trainer.order.batch(self.step)])[0])
            self.step += 1


class PlainLoop:
    """The loop people write by hand."""

    def __init__(self, model: Plain, trainer: Trainer):
        self.model, self.trainer, self.step, self.losses = model.train(), trainer, 0, [0.0]
        given: Any = trainer.loop.optimizer
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=given.lr, betas=given.betas, weight_decay=given.weight_decay, fused=True
        )

    def __call__(self) -> None:
        for _ in range(CHUNK):
            batch = self.trainer.order.batch(self.step)
            for group in self.optimizer.param_groups:
                group["lr"] = self.trainer.rate(self.step)
            model = self.model
            loss = model.loss_of(model.score(model.encode(model.embed(batch), batch)), batch)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            self.optimizer.step()
            self.losses.append(loss.item())
            self.step += 1


def trainer_for(folder: Path, steps: int, *words: str) -> Trainer:
    """The recipe's own trainer, from its first weights."""
    raw, _ = recipes.override(recipes.read("pos"), [*WORDS_ALONE, f"train.steps={steps}", *words])
    recipe = recipes.complete(raw)
    prepared = prepare(recipe.data, recipe.tokens, recipe.seed)
    model = build(recipe, prepared.tokens, torch.device("cpu"), tags=prepared.tags)
    return Trainer(model, recipe.train, prepared, recipe.seed, folder, Watch())


def test_batches(trainer: Trainer) -> list[Batch]:
    """Test sentences by length, as prediction takes them."""
    shards, settings = trainer.prepared.test, trainer.loop.batches
    assert shards is not None
    sizes = settings.sizes(shards)[:, 0]  # pyright: ignore[reportAttributeAccessIssue]
    order, found = np.argsort(-sizes, kind="stable"), []
    while len(order):
        many = max(PREDICT // max(int(sizes[order[0]]), 1), 1)
        found.append(settings.batch_of(shards, order[:many], [int(sizes[order[0]])]))  # pyright: ignore[reportAttributeAccessIssue]
        order = order[many:]
    return found


def accuracy(tags: Callable[[Batch], list[list[int]]], batches: Sequence[Batch]) -> float:
    right = words = 0
    for batch in batches:
        assert batch.targets is not None
        for found, row in zip(tags(batch), batch.targets.tolist(), strict=True):
            right += sum(a == b for a, b in zip(found, row, strict=False))
            words += len(found)
    return right / words


def pieces(model: Any, batches: Sequence[Batch], rounds: int) -> dict[str, float]:
    """Milliseconds a batch of each piece, forwards and backwards: the graph is cut between them."""
    found: dict[str, list[float]] = {"embedding": [], "lstm": [], "crf": []}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = call()
        spent[name] += time.perf_counter() - began
        return result

    for _ in range(rounds):
        spent = dict.fromkeys(found, 0.0)
        for batch in batches:
            x = timed("embedding", lambda batch=batch: model.embed(batch))
            x_cut = x.detach().requires_grad_()
            y = timed("lstm", lambda x=x_cut, batch=batch: model.encode(x, batch))
            y_cut = y.detach().requires_grad_()
            timed("crf", lambda y=y_cut, batch=batch: model.loss_of(model.score(y), batch).backward())
            timed("lstm", lambda y=y, y_cut=y_cut: y.backward(y_cut.grad))
            timed("embedding", lambda x=x, x_cut=x_cut: x.backward(x_cut.grad))
        for name, seconds in spent.items():
            found[name].append(1000 * seconds / len(batches))
    return {name: statistics.median(times) for name, times in found.items()}


def compare(peer_kind: str, folder: Path, steps: int, rounds: int) -> dict[str, dict[str, Any]]:
    trainer = trainer_for(folder, steps)
    assert isinstance(trainer.model, Tagger)
    plain = Plain(trainer.model, packed=peer_kind == "packed")
    ours, peer = OurLoop(trainer), PlainLoop(plain, trainer)
    ours(), peer()  # what is compiled or allocated at first
    turns = (steps - CHUNK) // CHUNK
    our_seconds, peer_seconds = in_turn(ours, peer, turns, 1)
    rows = statistics.mean(len(trainer.order.batch(step).targets) for step in range(CHUNK, steps))  # pyright: ignore[reportArgumentType]
    batches, side = test_batches(trainer), Ours(trainer.model)
    where = [trainer.order.batch(step) for step in range(CHUNK)]
    split_ours, split_peer = pieces(side, where, rounds), pieces(plain, where, rounds)
    trainer.model.eval(), plain.eval()
    scores = {"accuracy_ours": round(accuracy(side.tags, batches), 4)}
    scores["accuracy_peer"] = round(accuracy(plain.tags, batches), 4)
    our_tags, peer_tags = in_turn(
        lambda: [side.tags(batch) for batch in batches] and None,
        lambda: [plain.tags(batch) for batch in batches] and None,
        rounds,
        1,
    )
    sentences = sum(len(batch.targets) for batch in batches if batch.targets is not None)
    trained = _figure(rows * CHUNK, our_seconds, peer_seconds) | scores
    for name, split, seconds in (("ours", split_ours, our_seconds), ("peer", split_peer, peer_seconds)):
        rest = 1000 * seconds / CHUNK - sum(split.values())
        trained[f"ms_a_step_{name}"] = {part: round(ms, 2) for part, ms in (split | {"rest": rest}).items()}
    return {
        f"tagger training, peer {peer_kind}": _last(trained),
        f"tagger prediction, peer {peer_kind}": _last(_figure(sentences, our_tags, peer_tags) | scores),
    }


def _figure(sentences: float, ours: float, peer: float) -> dict[str, Any]:
    return {
        "ours": round(sentences / ours, 1),
        "peer": round(sentences / peer, 1),
        "unit": "sentences/s",
        "ratio": round(peer / ours, 3),
    }


def _last(figure: dict[str, Any]) -> dict[str, Any]:
    """The ratio after all that explains it."""
    return {name: value for name, value in figure.items() if name != "ratio"} | {"ratio": figure["ratio"]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="100 steps instead of 1,500")
    quick = parser.parse_args().quick
    figures: dict[str, dict[str, Any]] = {}
    for kind in ("padded", "packed"):
        with tempfile.TemporaryDirectory() as folder:
            figures |= compare(kind, Path(folder), 100 if quick else 1500, 3 if quick else 9)
    close(figures)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(f"bench.tagger: {error}") from None
