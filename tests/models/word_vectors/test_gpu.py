import dataclasses

import numpy as np
import pytest
import torch

from foresay.errors import UserError
from foresay.models.word_vectors import gpu, learn
from foresay.models.word_vectors.objective import Hierarchical, Negative
from foresay.models.word_vectors.predictor import Cbow, OneWord, SkipGram
from tests.gpu import GPU, by_kernels
from tests.models.word_vectors.made import course_of, documents, spelt_words


def test_the_same_words_are_kept(tmp_path, monkeypatch):
    """Words, documents, keys and rates are those of the loops, here on the CPU."""
    monkeypatch.setattr(learn, "STRETCH", 90)
    monkeypatch.setattr(gpu, "STRETCH", 90)
    course = course_of(tmp_path / "text", SkipGram(), Negative(), texts=documents(8, 50), sample=0.05)
    from foresay.kernels.word_vectors.window import key_of

    for epoch in (0, 1):
        words = torch.from_numpy(gpu.all_words(course))
        found = gpu.kept_places(course, words, torch.from_numpy(course.shares), epoch)
        at = 0
        for stretch in range(course.stretches):
            text, size, key = course.kept(epoch, stretch)
            here = slice(at, at + size)
            assert found["words"][here].tolist() == text.words[:size].tolist()
            assert found["begins"][here].tolist() == (at + text.begins[:size]).tolist()
            assert found["ends"][here].tolist() == (at + text.ends[:size]).tolist()
            assert found["keys"][here].tolist() == [key_of(key, place) for place in range(size)]
            rate, end = course.rates(epoch, stretch)
            np.testing.assert_allclose(found["rates"][here], rate + (end - rate) * np.arange(size) / size, rtol=1e-5)
            at += size
        assert at == len(found["words"])


def test_what_the_gpu_knows(tmp_path):
    known = [(SkipGram(), Negative()), (Cbow(), Negative(number=20)), (OneWord(), Negative())]
    unknown = [(SkipGram(outward=True), Negative()), (SkipGram(subset=2), Negative()), (Cbow(), Hierarchical())]
    for n, (predictor, objective) in enumerate(known + unknown):
        world = course_of(tmp_path / str(n), predictor, objective).world
        assert gpu.can(world) == (n < len(known))
    assert not gpu.can(course_of(tmp_path / "spelt", SkipGram(), Negative(), spelt=True).world)
    assert len(spelt_words().first)


@by_kernels
@pytest.mark.parametrize(
    "predictor", [SkipGram(), SkipGram(window=3, dynamic=False), Cbow(), Cbow(divisor="real"), OneWord()]
)
def test_one_program_learns_what_one_thread_learns(tmp_path, predictor):
    """Place by place, each with all that was learnt before it. On the GPU products are of 11 bits (tf32)."""
    found = []
    for name in ("cpu", "gpu"):
        course = course_of(tmp_path / name, predictor, Negative(number=4), size=48)
        course = dataclasses.replace(course, at_once=1)
        if name == "cpu":
            epochs = learn.learn(course, deterministic=False, tell=lambda done, said: None)
        else:
            epochs = gpu.learn(course, torch.device(GPU), tell=lambda done, said: None)
        found.append(([epoch.loss for epoch in epochs], course.tables))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=2e-3)
    for mine, other in zip(found[0][1], found[1][1], strict=True):
        assert np.linalg.norm(mine - other) < 5e-3 * np.linalg.norm(mine)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -1e20])
def test_every_number_of_the_tables_is_looked_at(strange):
    tables = [torch.zeros(3, 64), torch.ones(5, 64)]
    assert gpu.finite(tables)
    tables[1][4, 63] = strange
    assert not gpu.finite(tables)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_vectors_that_are_no_longer_numbers_end_the_run(tmp_path):
    course = dataclasses.replace(course_of(tmp_path / "text", SkipGram(), Negative(), epochs=9), rate=1e30)
    with pytest.raises(UserError, match=r"no longer numbers after epoch 1; lower lr: 0\.025 is usual$"):
        gpu.learn(course, torch.device("cuda"), tell=lambda done, said: None)
