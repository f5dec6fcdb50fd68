"""OpenAI's completions: a request becomes tickets of the engine, and their tokens its choices, whole or as a stream.

A choice's text is what `run.generate` gives alone with the same seed and settings, without the prompt; with `echo` it
is that, prompt and all. With n texts, choice i is the i-th of `run.generate(..., number=n)`. Of several prompts each
is written so: choice p n + i.
"""

from __future__ import annotations

import asyncio
import json
import math
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from foresay.decode.asked import Asked
from foresay.decode.sample import Decoder, Greedy, Sample
from foresay.errors import UserError
from foresay.run import Run
from foresay.serve.batch import Chosen
from foresay.serve.bodies import CompletionBody
from foresay.serve.counters import Counters
from foresay.serve.engine import Engine, Ticket
from foresay.serve.faults import Fault, fault_of
from foresay.serve.growing import Growing, text_of
from foresay.train.progress import without_nan

REASONS = {"stop": "stop", "length": "length", "cancelled": "length"}  # what OpenAI's clients know
NAMES = ("max_tokens", "n")  # OpenAI's for length and number


@dataclass
class Choice:
    """One text of a request as it comes."""

    run: Run
    asked: Asked
    echo: bool
    row: list[Chosen] = field(default_factory=list)
    reason: str | None = None

    @property
    def ids(self) -> list[int]:
        return [chosen.id for chosen in self.row]

    @property
    def text(self) -> str:
        return text_of(self.run, self.asked, self.ids, echo=self.echo)


class Completion:
    """A request of texts that the engine writes step by step."""

    def __init__(self, engine: Engine, counters: Counters, run: Run, body: CompletionBody):
        self.engine, self.counters, self.run, self.body = engine, counters, run, body
        self.seed = drawn(body)
        self.echo, self.began = bool(body.echo), time.time()
        self.prompts = [body.prompt] if isinstance(body.prompt, str) else body.prompt
        self.number, self.length = body.n or 1, 16 if body.max_tokens is None else body.max_tokens
        check(body)
        engine.check(self.length, self.number, len(self.prompts), names=NAMES)
        self.asked = [self._asked(prompt) for prompt in self.prompts]
        self.choices = [Choice(run, asked, self.echo) for asked in self.asked for _ in range(self.number)]
        self.news: asyncio.Queue[tuple[int, Chosen | str]] = asyncio.Queue()
        self.tickets: list[Ticket] = []
        self._growing = [Growing(run, choice.asked, echo=self.echo) for choice in self.choices]
        self._waiting: dict[int, list[Chosen]] = {}  # of a stream: tokens that are still to be told

    def _asked(self, prompt: str) -> Asked:
        return self.run.asked(
            prompt,
            length=max(self.length, 1),
            number=self.number,
            decoder=decoder_of(self.body),
            seed=self.seed,
            stop=() if self.body.stop is None else self.body.stop,
            label=self.body.label,
        )

    def begin(self) -> None:
        """Hands the texts to the engine; all of them, or none where they find no room."""
        loop, top = asyncio.get_running_loop(), self.body.logprobs or 0
        for place, asked in enumerate(self.asked if self.length else []):
            first = place * self.number

            def tell(number: int, what: Chosen | str, first: int = first) -> None:
                loop.call_soon_threadsafe(self.news.put_nowait, (first + number, what))

            try:
                self.tickets.append(self.engine.write(self.body.model, asked, tell, top=top))
            except Exception:
                self.cancel()
                raise
        if not self.length:
            for place in range(len(self.choices)):
                self.news.put_nowait((place, "length"))

    def cancel(self) -> None:
        for ticket in self.tickets:
            ticket.cancel()

    async def each(self) -> AsyncGenerator[tuple[int, Chosen | str]]:
        """Every token and every end, by the number of its choice."""
        left, first = len(self.choices), True
        try:
            while left:
                place, what = await self.news.get()
                if isinstance(what, Chosen):
                    if first:
                        self.counters.first.observe(time.time() - self.began)
                    first = False
                    self.choices[place].row.append(what)
                elif what == "error":
                    error = next((one.done.exception() for one in self.tickets if one.done.done()), None)
                    raise fault_of(error if isinstance(error, Exception) else RuntimeError())
                else:
                    self.choices[place].reason, left = what, left - 1
                yield place, what
        finally:
            self.cancel()
            self._count()

    async def whole(self) -> dict[str, Any]:
        """The answer in one piece."""
        async with aclosing(self.each()) as news:
            async for _ in news:
                pass
        told = [self._choice(place, one.text, self._logs(one)) for place, one in enumerate(self.choices)]
        if self.echo and self.body.logprobs is not None:
            for one, choice in zip(told, self.choices, strict=True):
                one["logprobs"] = joined(await self._prompt_logs(choice.asked), one["logprobs"])
        return self._answer(told) | {"usage": self.usage(), "seed": self.seed}

    async def stream(self) -> AsyncIterator[str]:
        """Server-sent events, a piece of a text each, and [DONE]; tokens that come fast go together."""
        try:
            async with aclosing(self.each()) as news:
                async for place, what in news:
                    self._waiting.setdefault(place, [])
                    self._waiting[place] += [what] if isinstance(what, Chosen) else []
                    if isinstance(what, str) or self.body.logprobs is not None or self.news.empty():
                        for told in self._told(place, what):
                            yield event(self._answer([told]))
        except Fault as fault:
            yield event(fault.body)
        if self.body.stream_options is not None and self.body.stream_options.include_usage:
            yield event(self._answer([]) | {"usage": self.usage()})
        yield "data: [DONE]\n\n"

    def _told(self, place: int, what: Chosen | str) -> Iterator[dict[str, Any]]:
        """The pieces of all texts that have grown; at the end of one its rest, and why it has ended."""
        for other in [one for one, new in self._waiting.items() if new]:
            new, self._waiting[other] = self._waiting[other], []
            text, row = self._growing[other].add(*(one.id for one in new)), self.choices[other].row
            logs = self._logs(self.choices[other], len(row) - 1)  # with which each token is told by itself
            if text or logs:
                yield self._choice(other, text, logs, None)
        if isinstance(what, str):
            yield self._choice(place, self._growing[place].rest(), None)

    def usage(self) -> dict[str, int]:
        prompt, written = sum(len(one.ids) for one in self.asked), sum(len(one.row) for one in self.choices)
        return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}

    def _count(self) -> None:
        usage = self.usage()
        self.counters.prompts.labels(self.body.model).inc(usage["prompt_tokens"])
        self.counters.written.labels(self.body.model).inc(usage["completion_tokens"])

    def _answer(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return answer(self.body.model, f"cmpl-{id(self):x}{int(self.began * 1e6):x}", self.began, choices)

    def _choice(self, place: int, text: str, logs: Any, reason: str | None = "") -> dict[str, Any]:
        reason = REASONS.get(self.choices[place].reason or "", "stop") if reason == "" else reason
        return {"index": place, "text": text, "logprobs": logs, "finish_reason": reason}

    def _logs(self, choice: Choice, begin: int = 0) -> dict[str, Any] | None:
        """Tokens from one on, their log P, the likeliest in their place; offsets are characters of the text."""
        if self.body.logprobs is None:
            return None
        ids, pieces = choice.ids, self.run.tokens.pieces
        before = [ids[:end] for end in range(begin, len(ids))]
        told = choice.row[begin:]
        return {
            "tokens": pieces(ids[begin:]),
            "token_logprobs": [one.log_prob for one in told],
            "top_logprobs": [self._top(one) for one in told] if self.body.logprobs else None,
            "text_offset": [len(text_of(self.run, choice.asked, one, echo=self.echo)) for one in before],
        }

    def _top(self, chosen: Chosen) -> dict[str, float]:
        """The likeliest, the first one first; of two that look alike the likelier."""
        found: dict[str, float] = {}
        for id, log_prob in chosen.top:
            if log_prob > -math.inf:
                found.setdefault(self.run.tokens.pieces([id])[0], log_prob)
        return found

    async def _prompt_logs(self, asked: Asked) -> dict[str, Any]:
        label = {} if asked.label is None else {"label": self.body.label}
        scored = (await asyncio.wrap_future(self.engine.do(lambda: self.run.score(asked.prompt, **label))))[0]
        number = len(asked.ids)  # without <stop>, where the run counts it
        return {
            "tokens": scored.tokens[:number],
            "token_logprobs": without_nan(scored.log_probs[:number]),
            "top_logprobs": [None] * number if self.body.logprobs else None,
            "text_offset": [len(self.run.tokens.decode(asked.ids[:end])) for end in range(number)],
        }


def check(body: CompletionBody) -> None:
    """Refuses what does not go together."""
    if body.best_of not in (None, body.n or 1):
        raise UserError(f"best_of={body.best_of}; allowed: n, which is {body.n or 1}; leave it out")
    if body.max_tokens == 0 and not body.echo:
        raise UserError("max_tokens=0 writes nothing; allowed: 1 or more, or 0 with echo for the prompt's log-probs")
    if body.max_tokens == 0 and body.stream:
        raise UserError("max_tokens=0 with stream; leave out one of them")
    if body.stream and body.echo and body.logprobs is not None:
        raise UserError("echo with logprobs cannot be a stream; leave out one of the three")
    if body.stream_options is not None and not body.stream:
        raise UserError("stream_options without stream; leave it out, or set stream")


def drawn(body: CompletionBody) -> int:
    """The seed that is asked for, or another one each time."""
    return secrets.randbelow(1 << 31) if body.seed is None else body.seed


def decoder_of(body: CompletionBody, usual: float = 1.0) -> Decoder:
    """How tokens are chosen; temperature 0 is greedy, whatever else is said."""
    given = body.temperature if "temperature" in body.model_fields_set else None
    temperature = usual if given is None else given
    if not temperature:
        return Greedy()
    filters = {"top_p": body.top_p or 1.0, "top_k": body.top_k, "min_p": body.min_p, "typical": body.typical}
    return Sample(temperature=temperature, repetition=body.repetition, **filters)


def joined(first: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """The log-probs of a prompt and of what follows it."""
    return {name: None if then[name] is None else first[name] + then[name] for name in then}


def answer(model: str, name: str, began: float, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": name, "object": "text_completion", "created": int(began), "model": model, "choices": choices}


def event(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(without_nan(value), ensure_ascii=False)}\n\n"
