"""Every part fits every other: embedding x encoder (each cell and kind of positions too) x output x task x batches.

`make test` trains two steps of a pairwise cover: every two parts meet in some run. `pytest --product` trains every
product that makes sense. What makes none is refused by a UserError; every part is met with every reason it can be
refused for. All of it is read off the register: a new part takes part by being registered.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from foresay import parts, recipe, start
from foresay.building import build
from foresay.data.loader import Loader
from foresay.data.prepare import Prepared, prepare
from foresay.data.wav import wav_bytes
from foresay.decode.generate import generate
from foresay.decode.paths import paths
from foresay.decode.sample import Sample
from foresay.errors import UserError
from foresay.models.task import Fitting
from foresay.train.classified import Classified
from foresay.train.evaluate import evaluate
from foresay.train.foreseen import SeriesFigures
from foresay.train.heard import SpeechFigures
from foresay.train.loop import Trainer
from foresay.train.measure import measure_on
from foresay.train.progress import Watch
from foresay.train.tagged import TagFigures
from tests.contracts.settings import described, label

Row = dict[str, dict[str, Any]]  # axis -> a part as a recipe writes it
SMALL_BATCHES = {
    "streams": [{"rows": 3, "chunk": 8}, {"rows": 3, "chunk": 8, "reset": True}],
    "packed": [{"rows": 3, "length": 12}],
    "buckets": [{"tokens": 40, "longest": 12}],
    "pairs": [{"tokens": 40, "longest": 40}],
    "tags": [{"tokens": 40, "longest": 40}],
    "labels": [{"tokens": 40, "longest": 12}],
    "images": [{"rows": 3}],
    "series": [{"rows": 3, "length": 6}],
    "speech": [{"tokens": 40, "longest": 40}],
}
OTHER_DATA: dict[str, list[dict[str, Any]]] = {  # than what a task is named for: with `condition`, written for labels
    "language-model": [
        {"kind": "labels", "condition": 5},
        {"kind": "images"},
        {"kind": "images", "condition": 5},
        {"kind": "sounds", "condition": 5},
    ],
    "classifier": [{"kind": "images"}, {"kind": "sounds"}, {"kind": "keywords"}],
    "seq2seq": [{"kind": "captions"}],
    "series": [{"kind": "music"}],
}
FEW = {"window": 0.00025, "hop": 0.000125, "bands": 3}  # of frames
HOW = {  # each kind is read
    "captions": {"source_tokens": {"kind": "levels", "number": 4}, "read": {"height": 2}},
    "speech": {"read": FEW},
    "keywords": {"read": FEW, "word": "1"},
}
TIED = [{"kind": "softmax", "tied": True}, {"kind": "sampled", "number": 30, "tied": True}]
ENDINGS = {
    "text": ".txt",
    "pairs": ".tsv",
    "tags": ".conll",
    "labels": ".csv",
    "images": ".npy",
    "captions": ".npy",
    "sounds": ".zip",
    "speech": ".zip",
    "keywords": ".zip",
    "series": ".jsonl",
    "music": ".json",
}  # of the files that hold each kind of data
TOKENS: dict[str, Any] = {"tags": "blanks", "images": {"kind": "levels", "number": 4}}
TOKENS |= {
    "sounds": TOKENS["images"],
    "series": "numbers",
    "music": "numbers",
    "speech": "blanks",
    "keywords": "numbers",
}
STEPS = 2


def axes(task: str) -> dict[str, list[dict[str, Any]]]:
    """What a task is made of, and the batches it is given."""
    found = {}
    for setting in parts.settings_of(parts.find("task", task)):
        if setting.nested and not setting.many and setting.name != "beside":  # a second embedding, by default none
            found[setting.name] = described(setting.nested)
    if "embedding" in found:  # what reads numbers is met with all tasks, and refused by those of symbols
        found["embedding"] += [
            {"kind": "frames"},
            *([{"kind": "frames", "size": 5}] if reads(task) in ("series", "speech") else []),
        ]
    if reads(task) == "series" and "output" in found:
        found["output"] = [{**density, "mixtures": number} for density in found["output"] for number in (1, 2)]
    elif "output" in found:  # one of each kind, and of the softmax all
        found["output"] = [*{part["kind"]: part for part in reversed(found["output"])}.values(), *TIED]
    one = parts.find("task", task)
    of_rows = reads(task) in ("tags", "speech") and "encoder" in found
    if "writer" in found or "pool" in found or of_rows or two_ways(task):
        # of encoders, one of each kind, and one that sees both sides
        kinds = {part["kind"]: part for part in reversed(found["encoder"])}
        found["encoder"] = [*kinds.values(), {"kind": "recurrent", "size": 14, "bidirectional": True}]
    elif "encoder" in found:
        causal = one.causal
        if causal:  # both ways they are met in the encoders' contract
            found["encoder"] += [{"kind": "recurrent", "size": 7, "cell": cell} for cell in described("cell")]
        small = {"kind": "transformer", "size": 8, "heads": 2, "layers": 1, "causal": causal}
        found["encoder"] += [{**small, "positions": positions} for positions in described("positions")]
    if reads(task) == "text" and not one.sequence:  # reads the text in its own way
        return found
    batches = [{"kind": name, **s} for name in parts.names("batches") for s in SMALL_BATCHES.get(name, [{}])]
    found |= {"data": [{"kind": reads(task)}, *OTHER_DATA[task]]} if task in OTHER_DATA else {}
    return found | {"batches": batches}


@functools.cache
def reads(task: str) -> str:
    """The kind of data a task learns from."""
    return parts.find("task", task).reads  # pyright: ignore[reportAttributeAccessIssue]


@functools.cache
def two_ways(task: str) -> bool:
    """Whether a task has an encoder for each way."""
    one: Any = parts.find("task", task)
    return one.sequence and one.one_way and not one.causal


def rows(task: str) -> list[Row]:
    """The whole product of a task, in a mixed order that is always the same."""
    choices = axes(task)
    found = [dict(zip(choices, chosen, strict=True)) for chosen in itertools.product(*choices.values())]
    random.Random(1).shuffle(found)
    return found


def refusal(task: str, row: Row) -> str | None:
    """Why a product makes no sense, as a part of the message; None when it does. Asked in the order it is noticed."""
    if row.get("predict", {}).get("kind") == "cbow-product" and row["loss"]["kind"] != "negative":
        return "with predict=cbow-product; allowed: loss=negative"
    if "batches" not in row:
        return None
    masked = not parts.find("task", task).one_way
    encoder = made("encoder", json.dumps(row["encoder"])) if "encoder" in row else None
    if "pool" in row and row["pool"]["kind"] == "ends" and encoder and not encoder.halves:
        return "pool=ends takes the last step of one direction"
    series = reads(task) == "series"
    if reads(task) in ("series", "speech") and row.get("embedding", {"kind": "frames"})["kind"] != "frames":
        return "reads symbols, and"
    if encoder and series and not encoder.causal:
        return "would see the numbers it must predict"
    if encoder and reads(task) == "text" and not (encoder.sees_both_sides if masked else encoder.causal):
        return "predicts from both sides" if masked else "would see the answer"
    batches = made("batches", json.dumps(row["batches"]))
    data = row.get("data", {}).get("kind", reads(task))
    if batches.reads != (data if (reads(task), data) == ("text", "images") else reads(task)):
        return "with data.kind="
    numbers = series or data in ("speech", "keywords")
    if numbers and row.get("embedding", {"kind": "frames"})["kind"] != "frames":
        return "would read symbols"
    if not numbers and row.get("embedding", {}).get("kind") == "frames":
        return "embedding=frames reads numbers"
    if encoder and encoder.grows and batches.carries and not masked and not two_ways(task):
        return "carries the state for ever"
    if row.get("output", {}).get("kind") == "logistics" and data not in ("images", "sounds"):
        return "output=logistics is over levels"
    longest = encoder.longest if encoder and batches.reads != "images" else None
    if longest and (batches.longest or longest + 1) > longest:
        return "positions=learnt ends at"
    if "source_tokens" in HOW.get(data, {}):
        if row["writer"].get("copy"):
            return "writer.copy=true copies symbols"
        if "characters" in str(row["embedding"]) or row["embedding"]["kind"] == "normed":  # by default of letters
            return "spells the target's symbols"
    if row.get("output", {}).get("tied") and made("embedding", json.dumps(row["embedding"])).weight() is None:
        return "needs an embedding with a table"
    return None


@functools.cache
def sorted_out(task: str) -> tuple[list[Row], list[Row]]:
    """The rows of a task that make sense, and those that are refused."""
    found: tuple[list[Row], list[Row]] = [], []
    for row in rows(task):
        found[refusal(task, row) is not None].append(row)
    return found


@functools.cache
def made(kind: str, told: str) -> Any:
    part = parts.make(kind, json.loads(told))
    if kind == "embedding":
        part.build(11)
    return part


def pairs(row: Row) -> set[tuple[str, str]]:
    """The pairs of parts that meet in a row; of cells and outputs, only the encoder's kind and the output's."""
    chosen = [f"{axis}: {part}" for axis, part in row.items()]
    if isinstance(row.get("encoder", {}).get("cell"), dict) and "output" in row:
        encoder, output = f"encoder: {row['encoder']}", f"output: {row['output']}"
        found = set(itertools.combinations(chosen, 2)) - {(encoder, output), (output, encoder)}
        return found | {("encoder: recurrent", f"output: {row['output']['kind']}")}
    return set(itertools.combinations(chosen, 2)) or {(chosen[0], "")}


def reasons(task: str, row: Row) -> set[tuple[str, str]]:
    """Every part of a row that is refused, with the reason."""
    why = refusal(task, row) or ""
    return {(f"{axis}: {part}", why) for axis, part in row.items()}


def cover_of(every: list[Row], met: Callable[[Row], set[tuple[str, str]]]) -> list[Row]:
    """Some of the rows, such that all that is met in any row is met in one of these; richest rows first."""
    left = [met(row) for row in every]  # of what each meets, no less than is still wanted
    wanted = set().union(*left)
    cover = []
    for gain in range(max(map(len, left)), 0, -1):
        for index, row in enumerate(every):
            if len(left[index]) < gain:
                continue
            left[index] = left[index] & wanted
            if len(left[index]) >= gain:
                cover.append(row)
                wanted -= left[index]
    return cover


def raw_of(task: str, row: Row, text: Path) -> dict[str, Any]:
    inner = {axis: part for axis, part in row.items() if axis not in ("batches", "data")}
    own = row.get("data", {"kind": reads(task)})
    inner |= {name: value for name, value in own.items() if name != "kind"}
    train = {"steps": STEPS, **({"batches": row["batches"]} if "batches" in row else {})}
    inner |= {} if "batches" in row else {"size": 8, "epochs": 2, "sample": 0.0}
    data = {"kind": own["kind"], "train": str(text.with_suffix(ENDINGS[own["kind"]])), **HOW.get(own["kind"], {})}
    tokens = TOKENS.get(own["kind"], "characters")
    return {"task": task, "data": data, "tokens": tokens, "train": train, **inner}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name in {"trained", "refused"} & set(metafunc.fixturenames):
        found = []
        for task in parts.names("task"):
            every = sorted_out(task)[name == "refused"]
            if every and not metafunc.config.getoption("--product"):
                every = cover_of(every, pairs if name == "trained" else functools.partial(reasons, task))
            found += [pytest.param((task, row), id="-".join([task, *map(label, row.values())])) for row in every]
        metafunc.parametrize(name, found)


@pytest.fixture(scope="module")
def texts(corpus: Path) -> dict[str, Prepared]:
    """The text; pairs: each line's first words and the rest; its words and its lines, by their first letter; noise."""
    lines = [line.partition(" ") for line in corpus.read_text("utf-8").splitlines()]
    corpus.with_suffix(".tsv").write_text("".join(f"{a}\t{b[:30]}\n" for a, _, b in lines), "utf-8")
    tagged = "\n".join("".join(f"{w} {w[0]}\n" for w in line.split()) for line in corpus.read_text().splitlines())
    corpus.with_suffix(".conll").write_text(tagged, "utf-8")
    labelled = "".join(f'"{a} {b[:30]}",{a[0]}\n' for a, _, b in lines)
    corpus.with_suffix(".csv").write_text(f"text,label\n{labelled}", "utf-8")
    draw, found = np.random.default_rng(1), {}
    np.save(corpus.with_suffix(".npy"), draw.integers(0, 256, (180, 2, 3), np.uint8))
    np.save(corpus.with_suffix(".labels.npy"), (np.arange(180) % 3).astype(np.uint8))
    with zipfile.ZipFile(corpus.with_suffix(".zip"), "w") as file:
        for number in range(180):
            file.writestr(f"{number % 3}/{number}.wav", wav_bytes(draw.uniform(-1, 1, 5 + number % 4), 8_000))
    keys = [[[60 + one, 64] if one else [] for one in draw.integers(0, 3, 9).tolist()] for _ in range(20)]
    corpus.with_suffix(".json").write_text(json.dumps(keys), "utf-8")
    series = [draw.integers(0, 2, (9, 2)).tolist() for _ in range(40)]  # of 0 and 1, which every density has
    corpus.with_suffix(".jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in series), "utf-8")
    for kind, ending in ENDINGS.items():
        data = parts.make("data", {"kind": kind, "train": str(corpus.with_suffix(ending)), **HOW.get(kind, {})})
        found[kind] = prepare(data, parts.make("tokens", TOKENS.get(kind, "characters")), 1)
    return found


class OneSource:
    """A model that writes from a source or for a label, with the same one for all rows."""

    def __init__(self, model: Any):
        self.model, self.device, self.steady = model, model.device, model.steady

    def begin(self, rows: int, condition: Any = None, capacity: int | None = None) -> Any:
        source = torch.tensor([[6, 7, 3]]).expand(rows, -1) if self.model.conditional else torch.ones(rows).long()
        return self.model.begin(rows, source, capacity)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


class Beginning:
    """The first tokens of a text: plain loops over all of it would take long."""

    def __init__(self, text: Any, size: int):
        self.text, self.size = text, size

    def __len__(self) -> int:
        return self.size

    def slice(self, start: int, stop: int) -> Any:
        return self.text.slice(start, min(stop, self.size))


def unbounded(row: Any) -> bool:
    """Whether nothing holds its features: of a cell that adds up, or linear under vectors of deviation 1, or ReLU's."""
    named = str(row)
    return "additive" in named or (
        "normed" in named
        and any(one in named for one in ("identity", "relu", "lru", "mingru", "minlstm", "convolution", "residual"))
    )


def sums_in_any_order(loss: torch.Tensor) -> list[str]:
    """Gradients of `x[i]` with an i twice: torch's threads add these on a CPU as they come, other bytes in each run."""
    found, seen, left = [], set(), [loss.grad_fn]
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        left += [other for other, _ in node.next_functions]
        if node.name() == "IndexBackward0":
            given = [one for one in node._saved_indices if one is not None and one.dtype != torch.bool]
            places = torch.stack(torch.broadcast_tensors(*given), -1).flatten(0, -2) if given else torch.zeros(0, 1)
            if len(places.unique(dim=0)) < len(places):
                found.append(f"{list(node._saved_self_sym_sizes)} by {[list(one.shape) for one in given]}")
    return found


def test_sums_in_any_order():
    x, i = torch.randn(4, 3, requires_grad=True), torch.tensor([1, 2, 1])
    assert sums_in_any_order((2 * x[i]).sum()) == ["[4, 3] by [[3]]"]
    assert sums_in_any_order(x[i[:2]].sum() + x[x > 0].sum() + x.index_select(0, i).sum()) == []


def test_trains_measures_and_writes(trained, texts: dict[str, Prepared], corpus: Path, tmp_path: Path):
    task, row = trained
    prepared = texts[row.get("data", {}).get("kind", reads(task))]
    whole = recipe.complete(recipe.read(raw_of(task, row, corpus)))
    place = torch.device("cpu")
    model: Any = build(whole, len(prepared.tokens), place, text=prepared.train, tags=prepared.tags)
    if hasattr(model, "fit"):
        text = prepared.train if model.sequence or reads(task) != "text" else Beginning(prepared.train, 8000)
        model.fit(text, None, Fitting(prepared.tokens.pieces(range(len(prepared.tokens)))))
    else:
        before = [parameter.detach().clone() for parameter in model.parameters()]
        trainer = Trainer(model, whole.train, prepared, whole.seed, tmp_path, Watch())
        with Loader(trainer.order) as loader:
            assert sums_in_any_order(model.loss(next(iter(Loader(trainer.order)))[1], None)[0]) == []
            losses = [trainer.train_step([next(loader)[1]])[0] for _ in range(STEPS)]
        assert trainer.counters.skipped == 0
        if reads(task) == "series":  # of densities, which have no bounds
            assert all(map(math.isfinite, losses))
        else:
            most = float("inf") if unbounded(row) else 3 * torch.tensor(len(prepared.tokens)).log()
            most *= 3 if reads(task) == "speech" else 1  # a symbol stands for several steps
            assert all(0 < loss < most for loss in losses)
        assert not all(map(torch.equal, before, model.parameters()))
    if reads(task) == "tags":
        found = measure_on(model, whole.train.batches, prepared.valid, limit=60)
        assert isinstance(found, TagFigures) and 60 <= found.tokens <= found.of and 0 < found.loss < 10
        return
    if reads(task) == "labels":
        found = measure_on(model, whole.train.batches, prepared.valid, limit=60)
        assert isinstance(found, Classified) and 0 < found.loss < 9 and 0 <= found.accuracy <= 1 and found.tokens >= 60
        return
    if reads(task) == "speech":
        found = measure_on(model, whole.train.batches, prepared.valid, limit=60)
        assert isinstance(found, SpeechFigures) and 0 < found.loss < 20 and 0 <= found.exact <= 1 and found.tokens >= 60
        return
    if reads(task) == "series":
        measured = measure_on(model, whole.train.batches, prepared.valid, limit=60)
        assert isinstance(measured, SeriesFigures) and math.isfinite(measured.loss) and measured.tokens > 0
        drawn = paths(model.eval(), model.begin(1), 3, 2, seed=1)
        assert drawn.shape == (1, 2, 3, prepared.train.form.width) and bool(drawn.isfinite().all())
        return
    if not model.sequence:
        losses = [epoch.loss for epoch in model.history]
        assert len(losses) == 2 and 0 < losses[1] < losses[0] and bool(model.vectors.isfinite().all())
        return
    measured = evaluate(model, whole.train.batches, prepared.valid, limit=60)
    # the additive cell's state grows with every step it has not learnt to hold back: any perplexity, but a number
    most = float("inf") if unbounded(row) else 3 * len(prepared.tokens)
    if measured.impossible:  # n-grams without smoothing
        assert "none" in str(row) and measured.perplexity == float("inf")
    else:
        assert 1 < measured.perplexity < most
    model.eval()
    if not model.causal:
        assert (model.score(torch.tensor([[5, 6, 7]]))[0] < 0).all()
        return
    model = OneSource(model) if model.conditional or "condition" in row.get("data", {}) else model
    text = generate(model, [[5, 6], []], Sample(), length=3)
    assert all(5 <= symbol < len(prepared.tokens) for one in text for symbol in one)


def test_refuses_what_makes_no_sense(refused, texts, corpus: Path, tmp_path: Path):
    task, row = refused
    with pytest.raises(UserError, match=refusal(task, row)):
        start.train(raw_of(task, row, corpus), out=tmp_path / "run", device="cpu", watch=Watch())


def test_every_refusal_is_among_them():
    reasons = {refusal(task, row) for task in parts.names("task") for row in sorted_out(task)[1]}
    assert len(reasons) == 15


@pytest.mark.parametrize("sizes", [[2, 2], [3, 4, 2], [2, 5, 3, 4], [6]])
def test_the_cover_is_one(sizes):
    """Every pair of values meets, in far fewer rows than the product, and in no fewer than the two largest need."""
    values = [[{"kind": f"{axis}{n}"} for n in range(size)] for axis, size in enumerate(sizes)]
    every = [{str(axis): part for axis, part in enumerate(row)} for row in itertools.product(*values)]
    cover = cover_of(every, pairs)
    assert set().union(*map(pairs, cover)) == set().union(*map(pairs, every))
    largest = sorted(sizes)[-2:]
    least = largest[0] * largest[-1] if len(largest) == 2 else largest[0]
    assert least <= len(cover) <= min(len(every), 2 * least)


def test_every_registered_part_is_met():
    """Each of every kind is trained in some run of the cover."""
    met: dict[str, set[str]] = {}
    for task in parts.names("task"):
        for row in cover_of(sorted_out(task)[0], pairs):
            met.setdefault("task", set()).add(task)
            for axis, part in row.items():
                kind = "density" if axis == "output" and reads(task) == "series" else axis
                met.setdefault(kind, set()).add(part["kind"])
            met.setdefault("data", set()).add(reads(task))
            for inner in ("cell", "positions"):
                part = row.get("encoder", {}).get(inner)
                if part is not None:
                    met.setdefault(inner, set()).add(part if isinstance(part, str) else part["kind"])
    for kind in (
        "task",
        "embedding",
        "encoder",
        "writer",
        "pool",
        "cell",
        "positions",
        "output",
        "density",
        "batches",
        "data",
    ):
        assert met[kind] == set(parts.names(kind)) - {"elmo"}, kind  # which needs a run: tests/embed/test_elmo.py
