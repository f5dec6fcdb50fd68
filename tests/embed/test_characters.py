"""The character embedding: kernels and max by hand and against a loop, words beyond the vocabulary, what is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from foresay import parts, start
from foresay.data.batch import Batch
from foresay.embed.characters import Characters
from foresay.errors import UserError
from foresay.kernels.switch import as_graph
from foresay.loading import load
from foresay.text.tokens import SPECIALS, UNK
from foresay.text.word_bytes import numbered
from foresay.train.progress import Watch

WORDS = ["ab", "b", "abba", "straße", "a" * 60]
SYMBOLS = [*SPECIALS, *WORDS]
IDS = torch.tensor([[5, 6, 5], [7, 9, 3]])


def build(symbols=SYMBOLS, **settings) -> Characters:
    torch.manual_seed(1)
    embedding = Characters(**({"size": 4, "letters": 3, "kernels": [[1, 2], [3, 5]]} | settings))
    embedding.symbols = symbols
    embedding.build(len(symbols))
    return embedding.eval()


def test_convolution_and_max_worked_by_hand():
    """Letters of one number: begin 1, end 2, a 3, b 5. One kernel of width 2: 10 c_t + c_{t+1} - 40."""
    embedding = build(size=1, letters=1, kernels=[[2, 1]], highways=0, activation="relu")
    with torch.no_grad():
        embedding.alphabet.zero_()
        for number, value in {1: 1.0, 2: 2.0, 8 + ord("a"): 3.0, 8 + ord("b"): 5.0}.items():
            embedding.alphabet[number] = value
        embedding.convolutions[0].weight.copy_(torch.tensor([[[10.0, 1.0]]]))
        embedding.convolutions[0].bias.fill_(-40.0)
        embedding.project.weight.fill_(1.0)
        embedding.project.bias.fill_(0.5)
    # ab: 1 3 5 2 -> 13, 35, 52 -> 12;  b: 1 5 2 -> 15, 52 -> 12;  aa: 1 3 3 2 -> 13, 33, 32 -> relu(-7)
    assert embedding.vectors(["ab", "b", "aa"]).flatten().tolist() == [12.5, 12.5, 0.5]
    embedding.activation = "tanh"
    expected = torch.tensor([12.0, -7.0]).tanh() + 0.5
    torch.testing.assert_close(embedding.vectors(["ab", "aa"]).flatten(), expected)


def by_a_loop(embedding: Characters, word: str) -> Tensor:
    """The equations as they stand, letter by letter, in float64."""
    letters = [number for number in numbered([word], embedding.longest)[0].tolist() if number]
    c = embedding.alphabet[letters]
    found = []
    for convolution in embedding.convolutions:
        wide = convolution.kernel_size[0]
        c_long = torch.cat([c, c.new_zeros(max(wide - len(c), 0), c.shape[1])])
        values = [
            torch.einsum("klw,wl->k", convolution.weight, c_long[t : t + wide]) + convolution.bias
            for t in range(len(c_long) - wide + 1)
        ]
        found.append(torch.stack(values).max(0).values.relu())
    z = torch.cat(found)
    for layer in embedding.highway:
        t = torch.sigmoid(layer.gate.weight @ z + layer.gate.bias)
        z = t * (layer.change.weight @ z + layer.change.bias).relu() + (1 - t) * z
    return embedding.project.weight @ z + embedding.project.bias


def test_equals_a_loop_over_letters():
    embedding = build(kernels=[[1, 2], [3, 5], [7, 2]], highways=2).double()
    words = [*WORDS, "", "x"]
    expected = torch.stack([by_a_loop(embedding, word) for word in words])
    torch.testing.assert_close(embedding.vectors(words), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(embedding(Batch(ids=IDS))[1, 0], expected[2], rtol=1e-12, atol=1e-12)


def test_the_company_of_a_word_changes_nothing():
    """Neither how far it is padded nor which words stand in the batch, training or not."""
    embedding = build()
    x = embedding(Batch(ids=IDS))
    torch.testing.assert_close(embedding(Batch(ids=IDS[:1])), x[:1])
    torch.testing.assert_close(embedding.train()(Batch(ids=IDS)), x)


def strange(words: list[str], wide: int | None = None) -> Batch:
    """IDS with words that are no symbols in its first row, and with a symbol in the second."""
    spelt = IDS.clone()
    spelt[0, :2] = len(SYMBOLS) + torch.tensor([1, 0])
    letters = torch.from_numpy(numbered(words, 100))
    return Batch(ids=IDS.masked_fill(spelt >= len(SYMBOLS), UNK), spelt=spelt, characters=letters[:, :wide])


@pytest.mark.parametrize("training", [True, False])
def test_words_of_no_vocabulary_are_read_by_their_letters(training):
    """In training and not, however far their letters are padded; a symbol's letters give the symbol's vector."""
    embedding = build().train(training)
    x = embedding(strange(["new", "ab"]))
    expected = torch.stack([*embedding.vectors(["ab", "new"]), embedding.vectors(["ab"])[0]])
    torch.testing.assert_close(x[0], expected)
    torch.testing.assert_close(x[1], embedding(Batch(ids=IDS))[1])
    with torch.no_grad():
        torch.testing.assert_close(embedding(strange(["new", "ab"], 5)), x)
    assert not torch.allclose(x[0, 1], embedding.vectors(["old"])[0])


def test_in_a_graph_no_shape_depends_on_the_words(monkeypatch):
    """As a CUDA graph wants it: every place is read, whatever stands there, to the same vectors."""
    embedding = build().train()
    x, read, inner = embedding(Batch(ids=IDS)), [], embedding._read
    monkeypatch.setattr(embedding, "_read", lambda spelt, **how: read.append(spelt.shape) or inner(spelt, **how))
    monkeypatch.setattr(torch.Tensor, "unique", None)  # waits for the device
    with as_graph():
        torch.testing.assert_close(embedding(Batch(ids=IDS)), x)
    assert read == [(6, embedding.longest + 2)]


@pytest.mark.parametrize("training", [True, False])
def test_in_a_graph_strange_words_have_the_same_vectors(training, monkeypatch):
    """Also where the table of letters has room for more words than there are."""
    embedding = build().train(training)
    batch = strange(["new", "ab"])
    x = embedding(batch)
    wide = replace(batch, characters=F.pad(batch.characters, (0, 0, 0, 3)))
    monkeypatch.setattr(torch.Tensor, "unique", None)
    with as_graph():
        torch.testing.assert_close(embedding(wide), x)


@pytest.mark.parametrize("longest", [3, 4, 5, 120])
def test_strange_words_are_cut_as_symbols_are(longest):
    embedding = build(longest=longest)
    torch.testing.assert_close(embedding(strange(["abcd", "ab"]))[0, 1], embedding.vectors(["abcd"])[0])


def test_long_words_are_cut_and_told_of():
    embedding = build(longest=50)
    assert embedding.notes == ["1 symbols have more than embedding.longest=50 bytes and are cut"]
    torch.testing.assert_close(embedding.vectors(["a" * 60]), embedding.vectors(["a" * 50]))
    assert build(longest=60).notes == []


def test_a_word_is_read_once_where_nothing_trains(monkeypatch):
    embedding, read = build(), []
    inner = embedding._read
    monkeypatch.setattr(embedding, "_read", lambda spelt: read.append(len(spelt)) or inner(spelt))
    with torch.inference_mode():
        first = embedding(Batch(ids=IDS))
        again = embedding(Batch(ids=IDS.flip(0)))
        embedding(Batch(ids=torch.tensor([[8, 5]])))
    assert read == [5, 1]  # five words; none; the one that is new
    assert torch.equal(again, first.flip(0))


def test_what_is_kept_goes_when_a_weight_changes():
    embedding = build()
    other = build().requires_grad_(False)
    other.project.weight.mul_(2.0)
    for change in (
        lambda: embedding.project.bias.add_(1.0),
        lambda: embedding.load_state_dict(other.state_dict()),
        lambda: embedding.spelling.copy_(embedding.spelling.flip(0)),
        lambda: embedding.double(),
    ):
        with torch.no_grad():
            before = embedding(Batch(ids=IDS))
            change()
            after = embedding(Batch(ids=IDS))
            assert after.dtype == embedding.alphabet.dtype and not torch.equal(after, before)
        torch.testing.assert_close(after, embedding(Batch(ids=IDS)).detach())  # with gradients nothing is kept


def test_frozen_letters_under_something_that_learns():
    """Vectors kept in an evaluation serve the training after it, and nothing of them learns."""
    embedding = build(frozen=True, dropout=0.0).train()
    assert not any(p.requires_grad for p in embedding.parameters())
    weight = torch.randn(4, 2, requires_grad=True)
    with torch.inference_mode():
        embedding(Batch(ids=IDS))
    (embedding(Batch(ids=IDS)) @ weight).sum().backward()
    expected = build()(Batch(ids=IDS)).sum((0, 1))[:, None].expand(4, 2)
    torch.testing.assert_close(weight.grad, expected)


def test_dropout_while_training_alone():
    embedding = build(size=100, dropout=0.5)
    assert (embedding(Batch(ids=IDS)) != 0).all()
    assert 0.3 < (embedding.train()(Batch(ids=IDS)) == 0).float().mean() < 0.7


@pytest.mark.parametrize("kernels", [[], [[3]], [[0, 4]], [[2, 0]], [[7, 1]]])
def test_kernels_that_cannot_be(kernels):
    with pytest.raises(UserError, match=r"allowed: pairs \[width, how many\].* at most longest \+ 2 = 6"):
        Characters(kernels=kernels, longest=4)


def test_a_run_spells_its_vocabulary(corpus, tiny, tmp_path):
    """Trained, saved and loaded without the words at hand, it knows how each is spelt."""
    characters = {"kind": "characters", "size": 6, "kernels": [[2, 4]], "longest": 12}
    recipe = tiny | {"embedding": characters, "tokens": {"kind": "words", "size": 60}}
    recipe |= {"train": tiny["train"] | {"steps": 2}}
    run = start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    symbols = run.tokens.pieces(range(len(run.tokens)))
    assert torch.equal(run.model.embedding.spelling[5:], torch.from_numpy(numbered(symbols[5:], 12)))
    assert run.score("the")[0].nats == load(tmp_path / "run", "cpu").score("the")[0].nats


def test_two_vocabularies_are_refused():
    """Of a source with tokens of its own nobody tells the spelling."""
    model = parts.make("task", {"kind": "seq2seq", "embedding": {"kind": "characters", "size": 6}})
    model.source_vocabulary = 9
    with pytest.raises(
        UserError, match=r"embedding=characters .* leave data\.source_tokens out, or set embedding=lookup"
    ):
        model.build(11)


@pytest.mark.parametrize("words", ["any", [1]])
def test_only_words_have_vectors(words):
    with pytest.raises(UserError, match="allowed: a list of words"):
        build().vectors(words)
