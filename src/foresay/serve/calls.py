"""Calls of a run's methods for clients: between two steps of the engine, with what they warn of, given up in time."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fastapi import Request

from foresay.serve.engine import Engine
from foresay.serve.faults import Fault

_T = TypeVar("_T")


def noted(call: Callable[[], _T]) -> tuple[_T, list[str]]:
    """What a call gives, and what it warns of: the client is who should know."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", UserWarning)
        result = call()
    return result, list(dict.fromkeys(str(one.message) for one in found))


def said(notes: list[str]) -> dict[str, Any]:
    return {"warnings": list(dict.fromkeys(notes))} if notes else {}


async def done(engine: Engine, call: Callable[[], _T]) -> _T:
    """What a call gives, made between two steps of the engine."""
    return await asyncio.wrap_future(engine.do(call))


async def watched(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """The work's result; it is given up when the client goes away."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    tasks = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()
        raise Fault(499, "the client has gone", "invalid_request_error")
    finally:
        for task in tasks:
            task.cancel()
