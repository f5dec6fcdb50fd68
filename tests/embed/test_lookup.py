"""The lookup table: its beginnings, pretrained vectors, freezing and dropout."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from foresay.data.batch import Batch
from foresay.embed.lookup import Lookup
from foresay.errors import UserError

V, D = 11, 3
BATCH = Batch(ids=torch.tensor([[3, 0, 10], [3, 1, 2]]))


def test_picks_rows():
    embedding = Lookup(size=D)
    embedding.build(V)
    assert torch.equal(embedding(BATCH)[0, 2], embedding.weight()[10])


def test_vectors_begin_with_length_one():
    embedding = Lookup(size=256)
    embedding.build(500)
    assert embedding.weight().norm(dim=1).mean().item() == pytest.approx(1.0, abs=0.02)


def test_pretrained_and_frozen(tmp_path):
    vectors, path = torch.randn(V, D), str(tmp_path / "v.safetensors")
    save_file({"vectors": vectors}, path)
    embedding = Lookup(size=D, pretrained=path, frozen=True)
    embedding.build(V)
    assert torch.equal(embedding(BATCH)[1, 0], vectors[3])
    assert not embedding.weight().requires_grad


@pytest.mark.parametrize(
    "tensors, message",
    [
        ({"vectors": torch.zeros(V, D + 1)}, r"shape \(11, 4\); needed \(vocabulary, size\) = \(11, 3\)"),
        ({"weights": torch.zeros(V, D)}, r"holds \['weights'\]; it needs a tensor named vectors"),
    ],
)
def test_wrong_file_is_refused(tensors, message, tmp_path):
    path = str(tmp_path / "v.safetensors")
    save_file(tensors, path)
    with pytest.raises(UserError, match=message):
        Lookup(size=D, pretrained=path).build(V)


def test_missing_or_broken_file_is_refused(tmp_path):
    with pytest.raises(UserError, match="is no file"):
        Lookup(size=D, pretrained=str(tmp_path / "none.safetensors")).build(V)
    (tmp_path / "v.safetensors").write_text("word 1 2 3\n")
    with pytest.raises(UserError, match=r"cannot be read as \.safetensors"):
        Lookup(size=D, pretrained=str(tmp_path / "v.safetensors")).build(V)


def test_dropout_only_in_training():
    embedding = Lookup(size=100, dropout=0.5)
    embedding.build(V)
    assert 0.3 < (embedding.train()(BATCH) == 0).float().mean() < 0.7
    assert (embedding.eval()(BATCH) != 0).all()


def test_a_bound_is_kept_and_filled():
    embedding = Lookup(size=200, bound=0.05)
    embedding.build(500)
    table = embedding.weight().detach()
    assert table.abs().max() <= 0.05
    assert table.std().item() == pytest.approx(0.05 / 3**0.5, rel=0.01)  # of a uniform distribution


def test_a_dropped_word_is_dropped_everywhere_in_the_batch():
    torch.manual_seed(1)
    embedding = Lookup(size=4, words=0.4)
    embedding.build(50)
    ids = torch.randint(0, 50, (20, 30))
    x, whole = embedding.train()(Batch(ids=ids)), embedding.weight()[ids]
    kept = (x != 0).all(2)
    torch.testing.assert_close(x, torch.where(kept[..., None], whole / 0.6, 0.0))
    for word in range(50):
        assert kept[ids == word].unique().numel() <= 1
    assert 0 < (x == 0).all(2).float().mean() < 1
    x.sum().backward()
    dropped = ids[~kept].unique()
    assert (embedding.table.grad[dropped] == 0).all()  # what is dropped does not learn
    assert torch.equal(embedding.eval()(Batch(ids=ids)), whole)


def test_the_share_of_dropped_words():
    embedding = Lookup(size=2, words=0.1)
    embedding.build(4000)
    x = embedding.train()(Batch(ids=torch.arange(4000)[None]))
    share = (x == 0).all(2).float().mean().item()
    assert abs(share - 0.1) < 4 * (0.1 * 0.9 / 4000) ** 0.5  # four deviations of 4000 draws


def test_locked_dropout_has_one_mask_for_all_steps_of_a_row():
    embedding = Lookup(size=100, dropout=0.5, locked=True)
    embedding.build(V)
    ids = torch.tensor([[3, 0, 10], [3, 1, 2]])
    x = embedding.train()(Batch(ids=ids))
    dropped = x == 0
    assert (dropped == dropped[:, :1]).all() and not torch.equal(dropped[0], dropped[1])
    torch.testing.assert_close(x[~dropped], 2 * embedding.weight()[ids][~dropped])
