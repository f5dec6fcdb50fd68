"""The loader: the same batches in order for any number of workers; errors surface; threads end."""

import threading
import time

import pytest
import torch

from foresay.data.batch import Batch
from foresay.data.loader import Loader


class Order:
    """Batches that say their step; even ones take longer."""

    per_epoch = 5

    def __init__(self, broken_at=None):
        self.broken_at = broken_at

    def batch(self, step):
        if step == self.broken_at:
            raise ValueError(f"step {step} is broken")
        if step % 2 == 0:
            time.sleep(0.002)
        return Batch(ids=torch.tensor([[step]]))


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
@pytest.mark.parametrize("first", [0, 7])
def test_in_order_from_any_step(workers, first):
    with Loader(Order(), first, workers) as loader:
        found = [next(loader) for _ in range(12)]
        assert loader.next_step == first + 12
    assert [step for step, _ in found] == list(range(first, first + 12))
    assert all(batch.ids.item() == step for step, batch in found)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_surfaces_at_its_step(workers):
    with Loader(Order(broken_at=3), 0, workers) as loader:
        assert [next(loader)[0] for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match="step 3 is broken"):
            next(loader)


def test_close_ends_the_threads():
    loader = Loader(Order(), 0, 2)
    next(loader)
    names = [thread.name for thread in threading.enumerate()]
    assert any(name.startswith("batches") for name in names)
    loader.close()
    assert not any(thread.name.startswith("batches") for thread in threading.enumerate())
