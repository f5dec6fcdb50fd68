"""A tokeniser in processes of their own: Python encodes on one core per process, so several share the work.

A process reads texts from its standard input and writes ids to its standard output:

    in   int64 size, then so many bytes of UTF-8: texts divided by zero bytes
    out  int64 texts, int64 length of each, then all ids as uint32

It ends when its input does, so none outlives the process that started it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np

from foresay.text.saved import open_tokens

MOST = 4  # processes, about 150 MB each
_ENDED = "a process that encodes text ended early (out of memory?)"


def cores() -> int:
    """The cores this process may use; where the system does not say, all there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Encoders:
    """Processes that encode with the tokeniser saved in a folder; a context manager."""

    def __init__(self, folder: Path, processes: int | None = None):
        count = processes or min(cores(), MOST)
        call = "import sys; from foresay.text.encoder import serve; serve(sys.argv[1])"
        paths = os.pathsep.join(path for path in sys.path if path)
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-c", call, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                process_group=0,  # Ctrl-C is for the process that started them
                # The processes share the cores: threads of the library in each would only get in the way.
                env=os.environ | {"PYTHONPATH": paths, "TOKENIZERS_PARALLELISM": "false"},
            )
            for _ in range(count)
        ]
        self.idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        for process in self.processes:
            self.idle.put(process)
        self.threads = ThreadPoolExecutor(count, "encode")

    def encode(self, batches: Iterable[Sequence[str]]) -> Iterator[list[np.ndarray]]:
        """The ids of each batch of texts, in order; a few batches are under way at a time."""
        waiting: deque[Future[list[np.ndarray]]] = deque()
        for texts in batches:
            waiting.append(self.threads.submit(self._ask, texts))
            if len(waiting) > 2 * len(self.processes):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _ask(self, texts: Sequence[str]) -> list[np.ndarray]:
        process = self.idle.get()
        try:
            assert process.stdin is not None and process.stdout is not None
            content = "\0".join(texts).encode("utf-8")
            process.stdin.write(np.int64(len(content)).tobytes() + content)
            process.stdin.flush()
            count = int(_numbers(process.stdout, 1, np.int64)[0])
            ends = np.cumsum(_numbers(process.stdout, count, np.int64))
            return np.split(_numbers(process.stdout, int(ends[-1]), np.uint32), ends[:-1])
        except BrokenPipeError:
            raise RuntimeError(_ENDED) from None
        finally:
            self.idle.put(process)

    def close(self) -> None:
        """Ends the processes."""
        self.threads.shutdown(wait=False, cancel_futures=True)
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        self.threads.shutdown(wait=True)
        for process in self.processes:
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):  # what was still to be written
                    pipe.close()  # pyright: ignore[reportOptionalMemberAccess]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def serve(folder: str) -> None:
    """The work of one process: texts in, ids out, until the input ends."""
    tokens = open_tokens(Path(folder))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while size := source.read(8):
        texts = source.read(int.from_bytes(size, sys.byteorder)).decode("utf-8").split("\0")
        found = tokens.encode_many(texts)
        sink.write(np.array([len(found), *map(len, found)], dtype=np.int64).tobytes())
        sink.write(np.concatenate(found).astype(np.uint32, copy=False).tobytes())
        try:
            sink.flush()
        except BrokenPipeError:  # nobody waits for the ids any more
            os._exit(1)


def _numbers(file: BinaryIO | object, count: int, dtype: type) -> np.ndarray:
    size = count * np.dtype(dtype).itemsize
    content = file.read(size)  # pyright: ignore[reportAttributeAccessIssue]
    if len(content) < size:
        raise RuntimeError(_ENDED)
    return np.frombuffer(content, dtype=dtype)
