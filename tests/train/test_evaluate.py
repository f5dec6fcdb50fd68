"""Evaluation against the model's own `score`, and its figures by formula."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.buckets import Buckets
from foresay.data.packed import Packed
from foresay.data.prepare import Prepared
from foresay.data.streams import Streams
from foresay.models.ngram import Ngram
from foresay.models.task import Task
from foresay.text.characters import Characters
from foresay.text.tokens import START, STOP, UNK
from foresay.train.evaluate import Measured, bootstrap, evaluate, perplexity, told
from tests.train.made import model_for, prepared_text

LINES = ["the café is old.", "a cat", "où est le chat ?", "it sees the small red house, and then", "é"]
TEXT = "\n".join(LINES) + "\n"


@pytest.fixture
def document(tmp_path: Path) -> Prepared:
    return prepared_text(tmp_path / "text.txt", TEXT, Characters())


@pytest.fixture
def model(tiny: dict, document: Prepared) -> Task:
    return model_for(tiny, len(document.tokens))


def nats(model: Task, ids: list[int]) -> Tensor:
    """-log P of every id, by `score`."""
    return -model.score(torch.tensor([ids]))[0][0].detach().double()


def test_the_loss_is_that_of_the_whole_text(model: Task, document: Prepared) -> None:
    expected = nats(model, [*document.tokens.encode(TEXT).tolist(), STOP])
    measured = evaluate(model, Streams(rows=1, chunk=7), document.train)
    assert measured.tokens == measured.of == len(TEXT) + 1  # the end counts, the start does not
    assert measured.loss == pytest.approx(float(expected.mean()), rel=1e-6)
    assert measured.perplexity == pytest.approx(math.exp(measured.loss))


def test_bits_by_formula(model: Task, document: Prepared) -> None:
    total = float(nats(model, [*document.tokens.encode(TEXT).tolist(), STOP]).sum())
    measured = evaluate(model, Streams(rows=1, chunk=7), document.train)
    assert len(TEXT.encode()) == len(TEXT) + 3  # three accents
    assert measured.bits_per_character == pytest.approx(total / math.log(2) / len(TEXT), rel=1e-6)
    assert measured.bits_per_byte == pytest.approx(total / math.log(2) / len(TEXT.encode()), rel=1e-6)


def test_rows_begin_anew_with_the_token_before_them(model: Task, document: Prepared) -> None:
    ids = [*document.tokens.encode(TEXT).tolist(), STOP]
    rows, length, total = 4, -(-len(ids) // 4), 0.0
    for begin in range(0, len(ids), length):
        targets = torch.tensor([ids[begin : begin + length]])
        before = torch.tensor([[START, *ids][begin : begin + length]])
        features, _ = model.encoder(model.embedding(Batch(ids=before)))
        total -= float(model.output.log_probs(features).detach().gather(2, targets[..., None]).double().sum())
    assert len(ids) % rows and len(ids) // 4 >= rows  # the last row is shorter; four rows of chunks of 4 fit
    assert evaluate(model, Streams(rows=rows, chunk=4), document.train).loss == pytest.approx(
        total / len(ids), rel=1e-6
    )


def test_lines_each_count_their_end(tiny: dict, tmp_path: Path) -> None:
    lines = prepared_text(tmp_path / "text.txt", TEXT, Characters(), unit="line")
    model = model_for(tiny, len(lines.tokens))
    total = sum(float(nats(model, [*lines.tokens.encode(line).tolist(), STOP]).sum()) for line in LINES)
    measured = evaluate(model, Buckets(tokens=48, longest=64), lines.train)
    assert measured.tokens == sum(len(line) + 1 for line in LINES)
    assert measured.loss == pytest.approx(total / measured.tokens, rel=1e-6)
    assert measured.bits_per_byte == pytest.approx(total / math.log(2) / len(TEXT.encode()), rel=1e-6)


def test_packed_windows_see_only_themselves(tiny: dict, tmp_path: Path) -> None:
    lines = prepared_text(tmp_path / "text.txt", TEXT, Characters(), unit="line")
    model = model_for(tiny, len(lines.tokens))
    longest = max(map(len, LINES)) + 1
    whole = evaluate(model, Packed(rows=2, length=200), lines.train)  # one window: documents, as in buckets
    assert whole.loss == pytest.approx(evaluate(model, Buckets(longest=longest), lines.train).loss, rel=1e-6)
    assert evaluate(model, Packed(rows=2, length=9), lines.train).tokens == whole.tokens


def test_a_limit_reads_the_beginning_only(model: Task, document: Prepared) -> None:
    expected = nats(model, document.tokens.encode(TEXT[:21]).tolist())
    measured = evaluate(model, Streams(rows=1, chunk=7), document.train, limit=15)
    assert (measured.tokens, measured.of) == (21, len(TEXT) + 1)  # the third chunk of 7 passes 15
    assert measured.loss == pytest.approx(float(expected.mean()), rel=1e-6)
    share = 21 / (len(TEXT) + 1)
    bits = float(expected.sum()) / math.log(2)
    assert measured.bits_per_character == pytest.approx(bits / (len(TEXT) * share), rel=1e-6)
    assert measured.bits_per_byte == pytest.approx(bits / (len(TEXT.encode()) * share), rel=1e-6)


@pytest.mark.parametrize("unit", ["document", "line"])
def test_the_share_of_unknown_tokens(unit: str, tiny: dict, tmp_path: Path) -> None:
    known = prepared_text(tmp_path / "text.txt", TEXT, Characters(min_count=2), unit)  # "," and some letters stand once
    rare = sum(TEXT.count(c) == 1 for c in TEXT)
    assert rare > 3
    batches = Streams(rows=2, chunk=7) if unit == "document" else Buckets(tokens=48)  # padded on the right
    model = model_for(tiny, len(known.tokens)).eval()
    measured = evaluate(model, batches, known.train)
    assert measured.unknown == rare / measured.tokens == measured.as_dict()["unknown"]
    total = unseen = 0.0
    state = None
    for batch in batches.evaluation(known.train):
        with torch.no_grad():
            log_probs, state = model.measure(batch, state)
        total -= float(log_probs.sum())
        unseen -= float(log_probs[batch.targets == UNK].sum())
    assert measured.known_loss == pytest.approx((total - unseen) / (measured.tokens - rare), rel=1e-5)
    assert measured.as_dict()["perplexity_of_known"] == pytest.approx(math.exp(measured.known_loss))


def test_tokens_that_are_held_for_impossible_are_counted(tmp_path: Path) -> None:
    """Of the second half of a text, by an n-gram without smoothing of the first half."""
    text = prepared_text(tmp_path / "text.txt", "abab" * 5 + "c", Characters())
    seen = prepared_text(tmp_path / "seen.txt", "abab" * 5, text.tokens)
    model = Ngram(order=2, smoothing="none")
    model.build(len(text.tokens))
    model.fit(seen.train)
    measured = evaluate(model, Streams(rows=1, chunk=7), text.train)
    about = measured.as_dict()
    assert measured.impossible == about["impossible"] == 1  # c; the end after it was not seen after c, but alone it was
    assert about["perplexity"] == about["perplexity_of_known"] == math.inf
    assert about["perplexity_interval"] == [math.inf, math.inf]


def test_an_impossible_unknown_token_leaves_the_known_ones_measured(tmp_path: Path) -> None:
    text = prepared_text(tmp_path / "text.txt", "abab" * 5 + "c", Characters(min_count=2))
    seen = prepared_text(tmp_path / "seen.txt", "abab" * 5, text.tokens)
    model = Ngram(order=1, smoothing="none")
    model.build(len(text.tokens))
    model.fit(seen.train)
    measured = evaluate(model, Streams(rows=1, chunk=7), text.train)
    assert measured.loss == math.inf and measured.impossible == 1
    assert measured.known_loss == pytest.approx((20 * math.log(21 / 10) + math.log(21)) / 21)  # 10 a, 10 b, the end


def test_evaluation_leaves_no_trace(model: Task, document: Prepared) -> None:
    done: list[float] = []
    random = torch.get_rng_state()
    for training in (True, False):
        model.train(training)
        first = evaluate(model, Streams(rows=2, chunk=7), document.train, on_progress=done.append)
        assert model.training is training
    assert first == evaluate(model, Streams(rows=2, chunk=7), document.train)
    assert torch.equal(torch.get_rng_state(), random)
    assert done == sorted(done[: len(done) // 2]) * 2 and done[-1] == 1.0


def test_the_interval_holds_the_mean_and_shrinks_with_more_text(
    model: Task, document: Prepared, tmp_path: Path
) -> None:
    streams = Streams(rows=1, chunk=7)
    short = evaluate(model, streams, document.train)
    more = prepared_text(tmp_path / "more.txt", TEXT * 16, document.tokens)
    long = evaluate(model, streams, more.train)
    for measured in (short, long):
        low, high = measured.interval
        assert low < measured.loss < high
    ratio = (short.interval[1] - short.interval[0]) / (long.interval[1] - long.interval[0])
    assert ratio == pytest.approx(4.0, rel=0.25)  # sixteen times the text


@pytest.mark.parametrize("pieces", [100, 1200])
def test_the_interval_is_that_of_the_normal_approximation(pieces: int) -> None:
    draw = np.random.default_rng(3)
    counts = np.full(pieces, 10)
    losses = draw.normal(2.0, 0.5, pieces)
    low, high = bootstrap(losses * 10, counts)
    error = losses.std() / math.sqrt(pieces)
    assert low == pytest.approx(losses.mean() - 1.96 * error, abs=0.25 * error)
    assert high == pytest.approx(losses.mean() + 1.96 * error, abs=0.25 * error)


def test_empty_rows_do_not_weigh() -> None:
    assert bootstrap(np.array([2.0, 0.0, 4.0]), np.array([1, 0, 2])) == (2.0, 2.0)


def test_figures_as_a_dict_never_overflow() -> None:
    about = Measured(9000.0, 5, 7, 1.5, 1.25, (1.0, 9000.0)).as_dict()
    assert about["perplexity"] == math.exp(700.0) and about["perplexity_interval"] == [math.e, math.exp(700.0)]
    assert (about["tokens"], about["of_tokens"], about["bits_per_byte"]) == (5, 7, 1.25)


def test_the_interval_leaves_no_piece_out() -> None:
    """More rows than pieces: the later half is worse, and the interval is around the mean of all."""
    sums = np.concatenate([np.full(350, 1.0), np.full(349, 9.0)])
    low, high = bootstrap(sums, np.ones(699))
    assert low < sums.mean() < high and high - low < 2


def test_figures_of_what_diverged_are_told_in_few_digits():
    assert (told(1.23456, 4), told(12345.678, 2), told(math.nan, 4), told(math.inf, 2)) == (
        "1.2346",
        "12345.68",
        "nan",
        "inf",
    )
    assert told(perplexity(9e30), 2) == "1.01e+304"
