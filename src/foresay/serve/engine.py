"""The engine: one thread that writes for many users at once, and does between two steps what else is asked of a run.

    engine = Engine({"lstm": run})
    ticket = engine.write("lstm", run.asked("Once upon", length=50, seed=7))
    ticket.result()                      # what run.generate("Once upon", length=50, seed=7) gives
    engine.do(lambda: run.score("a text")).result()
    engine.close()

Requests wait in the order they came; a text joins the others of its run when there is room. What is asked for beyond
the limits is refused at once: `Busy`, or a UserError that says what is allowed.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from foresay.decode.asked import Asked
from foresay.errors import UserError, counted
from foresay.run import Run
from foresay.serve.batch import Batch, Chosen, Row

LOG = logging.getLogger("foresay.serve")
_T = TypeVar("_T")
Told = Callable[[int, Chosen | str], None]  # of a text by its number: a token, or why it has ended


class Busy(Exception):
    """There is no place in the queue, or the engine is closing; the message says which."""

    def __init__(self, message: str, *, closing: bool = False):
        super().__init__(message)
        self.closing = closing


@dataclass(frozen=True)
class Limits:
    """How much one server does: rows written together, texts and calls that wait, and the most of a request."""

    rows: int = 32
    waiting: int = 256
    length: int = 4096  # tokens of a text
    number: int = 32  # texts of a prompt
    prompt: int = 32_768  # tokens of a prompt


class Ticket:
    """A request that was taken: its texts as they come, or all of them when they have ended."""

    def __init__(self, run: Run, asked: Asked, tell: Told | None):
        self.run, self.asked, self.tell = run, asked, tell
        self.rows: list[Row] = []
        self.cancelled = False
        self.done: Future[None] = Future()

    def cancel(self) -> None:
        """Nobody waits for it any more: its rows leave before the next step."""
        self.cancelled = True

    def result(self, timeout: float | None = None) -> list[str]:
        """The texts, prompt and all, as `run.generate` gives them."""
        self.done.result(timeout)
        asked = self.asked
        return [self.run.joined(asked.prompt, asked.ids, row.written, asked.stops) for row in self.rows]

    def told(self, number: int, what: Chosen | str) -> None:
        """Says it; who can hear no more (their event loop is closed) has gone, which is no matter of the others."""
        try:
            if self.tell is not None:
                self.tell(number, what)
        except Exception:
            self.tell = None
            self.cancel()

    def ended(self, row: Row, why: str) -> None:
        row.ended = why
        self.told(row.number, why)
        if all(row.ended is not None for row in self.rows) and not self.done.done():
            self.done.set_result(None)

    def failed(self, error: Exception) -> None:
        """The model could not go on."""
        for row in self.rows:
            row.ended = row.ended or "error"
        if not self.done.done():
            self.done.set_exception(error)


class Engine:
    """Runs by name, and the thread that works for them."""

    def __init__(self, runs: Mapping[str, Run], limits: Limits = Limits()):  # noqa: B008 - frozen
        self.runs, self.limits = dict(runs), limits
        self.batches = {name: Batch(run.model, run.context) for name, run in self.runs.items()}
        self.waiting: deque[tuple[str, Ticket, Row]] = deque()
        self.owners: dict[int, Ticket] = {}  # of the rows that are being written
        self.calls: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self.changed = threading.Condition()
        self.closing, self.hurried = False, False
        self.steps = self.tokens = 0
        self.thread = threading.Thread(target=self._work, name="foresay-engine", daemon=True)
        self.thread.start()

    def write(self, name: str, asked: Asked, tell: Told | None = None, *, top: int = 0) -> Ticket:
        """Takes a request. `tell` is called, in the engine's thread, with each token and each end of a text."""
        self.check(asked.how.length, asked.number, prompt=len(asked.ids))
        ticket = Ticket(self.runs[name], asked, tell)
        ticket.rows = [self._row(ticket, number, top) for number in range(asked.number)]
        with self.changed:
            self._check_open(len(ticket.rows))
            self.waiting += [(name, ticket, row) for row in ticket.rows]
            self.changed.notify()
        return ticket

    def check(
        self,
        length: int,
        number: int,
        prompts: int = 1,
        prompt: int = 0,
        *,
        names: tuple[str, str] = ("length", "number"),
    ) -> None:
        """Refuses more than a request may ask for; `names` are what its length and its number are called there."""
        if length > self.limits.length:
            raise UserError(f"{names[0]}={length}; allowed here: {self.limits.length:,} tokens at most")
        if number > self.limits.number:
            raise UserError(f"{names[1]}={number}; allowed here: {counted(self.limits.number, 'text')} at most")
        if number * prompts > self.limits.waiting:
            allowed = f"allowed here: {counted(self.limits.waiting, 'text')} at most; divide them"
            raise UserError(f"{prompts:,} prompts with {counted(number, 'text')} each; {allowed}")
        if prompt > self.limits.prompt:
            raise UserError(f"a prompt of {prompt:,} tokens; allowed here: {self.limits.prompt:,} at most: shorten it")

    def do(self, call: Callable[[], _T]) -> Future[_T]:
        """Anything else of a run, done between two steps."""
        future: Future[_T] = Future()
        with self.changed:
            self._check_open(1)
            self.calls.append((call, future))
            self.changed.notify()
        return future

    def close(self, patience: float = 0.0) -> None:
        """Takes nothing more, finishes what it can in so many seconds, cancels the rest."""
        with self.changed:
            self.closing = True
            self.changed.notify()
        self.thread.join(patience)
        with self.changed:
            self.hurried = True
            self.changed.notify()
        self.thread.join()

    @property
    def writing(self) -> int:
        """How many texts are being written."""
        return sum(len(batch.rows) for batch in self.batches.values())

    @property
    def queued(self) -> int:
        """How many texts and calls wait."""
        return len(self.waiting) + len(self.calls)

    def _row(self, ticket: Ticket, number: int, top: int) -> Row:
        row = Row(ticket.asked, number, lambda chosen: ticket.told(number, chosen), lambda why: None, top)
        row.end = lambda why: ticket.ended(row, why)
        return row

    def _check_open(self, more: int) -> None:
        if self.closing:
            raise Busy("the server is closing; ask another one, or later", closing=True)
        if self.queued + more > self.limits.waiting:
            raise Busy(f"{self.queued} texts and calls wait; allowed: {self.limits.waiting}; ask again later")

    def _work(self) -> None:
        while self._wait():
            with torch.inference_mode():
                self._leave()
                self._enter()
                for name, batch in self.batches.items():
                    self._step(name, batch)
            self._call()

    def _wait(self) -> bool:
        """Until there is something to do; whether there is."""
        with self.changed:
            while not (self.writing or self.queued or self.closing):
                self.changed.wait()
            if self.hurried:
                self._cancel_all()
            return bool(self.writing or self.queued)

    def _cancel_all(self) -> None:
        for _, ticket, row in self.waiting:
            ticket.ended(row, "cancelled")
        self.waiting.clear()
        for batch in self.batches.values():
            for row in batch.rows:
                self.owners.pop(id(row)).ended(row, "cancelled")
            batch.drop(batch.rows)
        for _, future in self.calls:
            future.cancel()
        self.calls.clear()

    def _leave(self) -> None:
        """Rows of requests that were cancelled."""
        for batch in self.batches.values():
            gone = [row for row in batch.rows if self.owners[id(row)].cancelled]
            batch.drop(gone)
            for row in gone:
                self.owners.pop(id(row)).ended(row, "cancelled")

    def _enter(self) -> None:
        """Rows that have waited, as many as there is room for."""
        new: dict[str, list[Row]] = {}
        with self.changed:
            room = self.limits.rows - self.writing
            while self.waiting and room > 0:
                name, ticket, row = self.waiting.popleft()
                if ticket.cancelled:
                    ticket.ended(row, "cancelled")
                    continue
                self.owners[id(row)] = ticket
                new.setdefault(name, []).append(row)
                room -= 1
        for name, rows in new.items():
            self._try(name, lambda name=name, rows=rows: self.batches[name].join(rows), rows)

    def _step(self, name: str, batch: Batch) -> None:
        before = batch.rows
        self._try(name, batch.step, [])
        for row in before:
            if row.ended is not None:
                self.owners.pop(id(row), None)
        self.steps += bool(before)
        self.tokens += len(before)

    def _try(self, name: str, call: Callable[[], None], new: list[Row]) -> None:
        """What goes wrong ends the texts of one run, and is told to those who wait for them."""
        try:
            call()
        except Exception as error:
            LOG.exception("%s could not go on", name)  # the client is told only that it is so
            batch = self.batches[name]
            for row in [*batch.rows, *new]:
                if (ticket := self.owners.pop(id(row), None)) is not None:
                    ticket.failed(error)
                    ticket.told(row.number, "error")
            self.batches[name] = Batch(batch.model, batch.context)

    def _call(self) -> None:
        """One call, so that texts go on between two of them."""
        with self.changed:
            call, future = self.calls.popleft() if self.calls else (None, None)
        if call is None or future is None or not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(call())
        except Exception as error:
            future.set_exception(error)
