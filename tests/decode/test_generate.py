"""Writing on: rows on their own, <stop>, what is never written, and the context of a model trained on windows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from foresay import parts
from foresay.decode.generate import NEVER, generate
from foresay.decode.sample import Decoder, Greedy, Sample
from foresay.text.tokens import PAD, START, STOP
from tests.decode.models import Markov, told

V = 13
ENCODERS: dict[str, dict[str, Any]] = {
    "lstm": {"kind": "recurrent", "size": 9},
    "window": {"kind": "window", "span": 3, "size": 9},
    "transformer": {"kind": "transformer", "size": 8, "layers": 2, "heads": 2},
    "dilated": {"kind": "dilated", "size": 9, "dilations": [1, 2, 1]},
    "masked": {"kind": "masked", "size": 9, "layers": 2, "columns": 3},
}
PROMPTS = [[5, 6, 7], [], [8, 9, 10, 11, 12, 5], [6]]


def model_of(encoder: str) -> Any:
    torch.manual_seed(1)
    model = parts.make("task", {"kind": "language-model", "embedding": {"size": 5}, "encoder": ENCODERS[encoder]})
    model.build(V)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
    return model.double().eval()


every = pytest.mark.parametrize("encoder", ENCODERS)


class Told:
    """A sequence model whose distribution is told by a function of the text; it remembers what it was asked."""

    device, steady = torch.device("cpu"), True

    def __init__(self, likely):
        self.likely, self.longest, self.begun = likely, 0, 0

    def begin(self, rows, condition=None, capacity=None):
        self.begun += 1
        return [[START] for _ in range(rows)]

    def step(self, ids, state, mask=None):
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
        state = [[*text, *row[kept].tolist()] for text, row, kept in zip(state, ids, real.expand_as(ids), strict=True)]
        self.longest = max(self.longest, *map(len, state))
        log_probs = torch.full((len(state), V), -5.0)
        for row, text in enumerate(state):
            log_probs[row, self.likely(text)] = 0.0
        return log_probs, state


def after(text: list[int]) -> int:
    """5, 6, ... 12, 5, ...: the symbol after the last."""
    return 5 if text[-1] in (START, V - 1) else text[-1] + 1


@every
def test_greedy_is_the_likeliest_each_time(encoder):
    model, ids = model_of(encoder), [5, 6, 7]
    written = generate(model, [ids], Greedy(), length=6)[0]
    for symbol in written:
        log_probs = model.step(torch.tensor([ids]), model.begin(1))[0][0]
        log_probs[list(NEVER)] = -torch.inf
        assert log_probs.argmax() == symbol
        ids = [*ids, symbol]
    assert written and STOP not in written


@every
def test_temperature_towards_nothing_is_greedy(encoder):
    cold = generate(model_of(encoder), PROMPTS, Sample(temperature=1e-9), length=8)
    assert cold == generate(model_of(encoder), PROMPTS, Greedy(), length=8)


@every
@pytest.mark.parametrize("context", [None, 6])
def test_a_row_does_not_depend_on_its_neighbours(encoder, context):
    """Row i draws from the seed and i alone: beside other prompts, and beside none, it writes the same."""
    model, decoder = model_of(encoder), Sample(temperature=2.5, repetition=1.2)
    together = generate(model, PROMPTS, decoder, length=20, context=context)
    assert len({len(row) for row in together}) > 1
    for row, prompt in enumerate(PROMPTS):
        others: list[list[int]] = [[7]] * row
        assert generate(model, [*others, prompt], decoder, length=20, context=context)[row] == together[row]


@every
def test_the_seed_makes_the_text(encoder):
    model, prompts = model_of(encoder), [[5, 6], [5, 6]]
    first = generate(model, prompts, Sample(), length=12, seed=3)
    assert first == generate(model, prompts, Sample(), length=12, seed=3)
    assert first != generate(model, prompts, Sample(), length=12, seed=4)
    assert first[0] != first[1]


@pytest.mark.parametrize("seed", [0, -1, 2**44, 2**63, 10**30])
def test_any_whole_number_is_a_seed(seed):
    assert len(generate(Told(after), [[5]], Sample(), length=1, seed=seed)) == 1


@every
@pytest.mark.parametrize("decoder", [Greedy(), Sample(temperature=3.0)])
def test_what_no_text_has_is_never_written(encoder, decoder: Decoder):
    written = generate(model_of(encoder), PROMPTS * 5, decoder, length=15)
    assert not {symbol for row in written for symbol in row} & {*NEVER, STOP}
    likes_them = Told(lambda text: list(NEVER))
    assert all(set(row) <= set(range(5, V)) for row in generate(likes_them, [[]] * 4, decoder, length=5))


@pytest.mark.parametrize("decoder", [Greedy(), Sample(), Sample(top_k=3), Sample(top_p=0.5, min_p=0.1, typical=0.9)])
def test_where_nothing_can_follow_a_text_ends(decoder):
    """After 6 every symbol has P = 0."""
    model = told({START: {5: 1.0}, 5: {6: 1.0}})
    assert generate(model, [[], [5], [6]], decoder, length=4) == [[5, 6], [6], []]


def test_stops_at_stop_and_without_it():
    """Each row by itself: 5 6 7 stop."""
    model = Told(lambda text: STOP if text[-1] == 7 else after(text))
    assert generate(model, [[], [6], [7], [9]], Greedy(), length=6) == [[5, 6, 7], [7], [], [10, 11, 12, 5, 6, 7]]


def test_ends_when_every_row_has_stopped():
    model = Told(lambda text: STOP if text[-1] == 7 else after(text))
    generate(model, [[5], [6]], Greedy(), length=1000)
    assert model.longest == 4  # <start> 5 6 7


def test_a_row_that_has_stopped_grows_no_more():
    """Where a state has its bounds."""
    model, prompts = Told(lambda text: STOP if text[-1] == 7 else after(text)), [[9, 10, 11, 12, 5, 6, 7], [9]]
    assert generate(model, prompts, Greedy(), length=6, context=20) == [[], [10, 11, 12, 5, 6, 7]]
    assert model.longest == 8  # <start> and the first prompt


def test_length_is_the_most():
    model = Told(after)
    assert generate(model, [[5], []], Greedy(), length=4) == [[6, 7, 8, 9], [5, 6, 7, 8]]
    assert model.longest == 5  # <start>, the prompt, three of the four: the last one needs no step


def test_prompts_are_left_alone():
    prompts = [[5], [6, 7]]
    generate(Told(after), prompts, Greedy(), length=3)
    assert prompts == [[5], [6, 7]]


@pytest.mark.parametrize(("context", "begun"), [(None, 1), (100, 1), (8, 5), (3, 12), (1, 22)])
def test_a_full_state_begins_anew_with_the_last_half(context, begun):
    """Of 8, <start>, the prompt's 2 and 5 fit; the 6th begins anew with 4, as do the 10th, 14th and 18th of 22."""
    model = Told(after)
    written = generate(model, [[5, 6]], Greedy(), length=22, context=context)[0]
    assert written == [5 + (2 + n) % 8 for n in range(22)]
    assert model.longest == (24 if context is None or context > 30 else max(context, 2))
    assert model.begun == begun


def test_a_prompt_that_fits_is_read_whole():
    model = Told(lambda text: text[1] if len(text) > 1 else 5)
    assert generate(model, [[9, 6, 7, 8, 10]], Greedy(), length=1, context=6) == [[9]]
    assert generate(model, [[9, 6, 7, 8, 10]], Greedy(), length=1, context=5) == [[8]]


def test_repetition_sees_prompt_and_writing_but_no_padding():
    """log P of 9 falls from -0.5 to -1 when it was written: -0.8 of 8 is then the greater."""

    class Uneven(Told):
        def step(self, ids, state, mask=None):
            log_probs, state = super().step(ids, state, mask)
            log_probs[:, 8], log_probs[:, 9], log_probs[:, PAD] = -0.8, -0.5, -5.0
            return log_probs, state

    cold = Sample(temperature=1e-6, repetition=2.0)
    model = Uneven(lambda text: PAD)
    assert generate(model, [[9], [5, 5, 5]], cold, length=2) == [[8, 9], [9, 8]]


def test_on_step_is_told_every_symbol():
    told: list[list[int]] = []
    model = Told(lambda text: STOP if text[-1] == 7 else after(text))
    written = generate(model, [[], [6]], Greedy(), length=5, on_step=told.append)
    assert told == [[5, 7], [6, STOP], [7, STOP]] and written == [[5, 6, 7], [7]]


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_an_unsure_choice_is_what_the_row_alone_says(monkeypatch, rows):
    """A model whose rows differ by the size of the batch: far less than the margin, and enough to turn near ties."""

    class Shaky(Markov):
        steady = False

        def step(self, ids, state, mask=None):
            log_probs, state = super().step(ids, state, mask)
            return log_probs + 1e-6 * len(ids) * torch.arange(9) / 9, state

    table = told({START: {5: 0.5, 6: 0.5}, 5: {7: 0.5, 8: 0.5}, 6: {STOP: 1.0}, 7: {STOP: 1.0}, 8: {STOP: 1.0}}).table
    table[START, 5] += 2e-7  # alone 6 gains 1.1e-7 on 5, among two and three 2.2e-7 and 3.3e-7
    table[5, 7] += 2e-7
    model = Shaky(table)
    assert generate(model, [[], [6], []][:rows], Greedy(), length=4) == [[5, 7], [], [5, 7]][:rows]
    unsure = [0, 2, 2, 4][rows]  # two each of the rows that write something, asked alone
    assert model.rows_asked == [rows, *[1] * (unsure // 2), rows, *[1] * (unsure // 2), rows]
    monkeypatch.setattr("foresay.decode.search.MARGIN", 0.0)
    taken = [[5, 7]] if rows == 1 else [[6], [], [6]][:rows]
    assert generate(Shaky(table), [[], [6], []][:rows], Greedy(), length=4) == taken
