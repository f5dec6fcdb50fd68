"""Batches made ahead by threads, in order: the same batches for any number of workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from foresay.data.batch import Batch
from foresay.data.batches import BatchOrder

_AHEAD = 2  # batches per worker


class Loader:
    """Endless (step, batch) from step `first` on; an error in a worker is raised where its batch is awaited."""

    def __init__(self, order: BatchOrder, first: int = 0, workers: int = 0):
        self.order = order
        self.next_step = first  # the step to be handed out next
        self._asked = first
        self._waiting: deque[Future[Batch]] = deque()
        self._ahead = workers * _AHEAD
        self._pool = ThreadPoolExecutor(workers, "batches") if workers else None

    def __iter__(self) -> Iterator[tuple[int, Batch]]:
        return self

    def __next__(self) -> tuple[int, Batch]:
        if self._pool is None:
            batch = self.order.batch(self.next_step)
        else:
            while len(self._waiting) < self._ahead:
                self._waiting.append(self._pool.submit(self.order.batch, self._asked))
                self._asked += 1
            batch = self._waiting[0].result()
            self._waiting.popleft()
        self.next_step += 1
        return self.next_step - 1, batch

    def close(self) -> None:
        """Stops the threads; batches not yet begun are dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
