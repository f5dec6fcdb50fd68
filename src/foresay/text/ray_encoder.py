"""A tokeniser on the machines of a Ray cluster: as encoder.py, with actors of Ray in place of processes.

Every core of the cluster holds the tokeniser, which is sent to it with the files it was saved as. Texts go round in
turn and ids come back in the order of the texts, so what is written is the same to the byte for any cluster. Reading,
learning the vocabulary and writing stay where the command runs. `RAY_ADDRESS` says where the cluster is; without it
Ray starts one on this machine. Needs the extra `ray`.

Ray Data is not what carries them: it plans for files that it can read by itself, and a corpus here is read in
order (archives, copies that are dropped, a writer that goes on where it was killed).
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from foresay.errors import UserError
from foresay.extras import need
from foresay.text.saved import open_tokens

FILES = ("tokenizer.json", "text.json")
AHEAD = 2  # batches of texts under way for each actor


class RayEncoders:
    """Actors that encode with the tokeniser saved in a folder; a context manager."""

    def __init__(self, folder: Path):
        self.ray: Any = need("ray", "ray", "a Ray cluster")
        self.began = not self.ray.is_initialized()
        try:
            if self.began:
                self.ray.init(logging_level="ERROR", log_to_driver=False, include_dashboard=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = str(error).split("\n")[0]
            raise UserError(f"no Ray cluster: {reason}; set RAY_ADDRESS, or unset it to start one here") from None
        files = self.ray.put({name: (folder / name).read_bytes() for name in FILES})
        actor = self.ray.remote(num_cpus=1)(Encoding)
        count = max(int(self.ray.cluster_resources().get("CPU", 1)), 1)
        self.actors = [actor.remote(files) for _ in range(count)]

    def encode(self, batches: Iterable[Sequence[str]]) -> Iterator[list[np.ndarray]]:
        """The ids of each batch of texts, in order."""
        waiting: deque[Any] = deque()
        for number, texts in enumerate(batches):
            waiting.append(self.actors[number % len(self.actors)].encode.remote(list(texts)))
            if len(waiting) > AHEAD * len(self.actors):
                yield self._first(waiting)
        while waiting:
            yield self._first(waiting)

    def _first(self, waiting: deque[Any]) -> list[np.ndarray]:
        try:
            return self.ray.get(waiting.popleft())
        except self.ray.exceptions.RayActorError:
            raise UserError("a process of the Ray cluster ended early; the same command goes on where it was") from None

    def close(self) -> None:
        """Ends the actors, and the cluster that was started for them."""
        for actor in self.actors:
            self.ray.kill(actor)
        if self.began:
            self.ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Encoding:
    """What an actor does: a tokeniser from its files, texts to ids."""

    def __init__(self, files: Mapping[str, bytes]):
        with tempfile.TemporaryDirectory() as name:
            for file, content in files.items():
                Path(name, file).write_bytes(content)
            self.tokens = open_tokens(Path(name))

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        return [np.asarray(ids) for ids in self.tokens.encode_many(texts)]
