"""Word vectors as a task: `foresay train skipgram data.train=my.txt`.

Two tables are learnt: a vector for a word as it predicts (`vectors`, what people use) and one as it is predicted
(`outputs`; with a tree, one for each inner node). Vectors begin uniform in [-1/D, 1/D], outputs at 0. A word of
relative frequency f is kept with probability sqrt(s/f) + s/f, s = `sample` (0: all are kept). With `spelling` a word's
vector is the mean of its own and of those of its character n-grams, so that unknown words have one too.

Unknown words and control marks take no part: windows close over them. No P of a text: no sequence model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from foresay.counts.count import Tokens
from foresay.counts.frequency import count_tokens
from foresay.counts.threads import threads
from foresay.errors import UserError, counted
from foresay.kernels import switch
from foresay.kernels.word_vectors.plan import NOT_SPELT, Spelt, Tables, World, aligned
from foresay.models.task import Fitting, Task
from foresay.models.word_vectors import gpu, plain
from foresay.models.word_vectors import learn as cpu
from foresay.models.word_vectors.objective import Objective, Softmax
from foresay.models.word_vectors.predictor import CbowProduct, Predictor
from foresay.parts import Amount, Part, Rate, Size, part
from foresay.text.tokens import SPECIALS

ALWAYS = 1 << 32


@part("spelling", "ngrams")
class Spelling(Part):
    """Character n-grams of words, `shortest` to `longest`, hashed into so many `buckets`."""

    part_kind = "spelling"

    def __init__(self, shortest: Size = 3, longest: Size = 6, buckets: Size = 200_000):
        if shortest > longest:
            raise UserError(
                f"spelling.shortest={shortest} and spelling.longest={longest}; allowed: shortest <= longest"
            )
        self.shortest, self.longest, self.buckets = shortest, longest, buckets


@part("task", "word-vectors")
class WordVectorTask(Task):
    """Vectors for words, learnt by predicting words from words near them."""

    sequence = False
    doing = "learning vectors"
    vectors: Tensor
    outputs: Tensor
    counts: Tensor
    pieces: Tensor

    def __init__(
        self,
        size: Size = 100,
        predict: Predictor | str = "skipgram",
        loss: Objective | str = "negative",
        sample: Amount = 1e-3,
        epochs: Size = 5,
        lr: Rate = 0.025,
        spelling: Spelling | str | None = None,
    ):
        super().__init__()
        self.width, self.predict, self.objective = size, predict, loss
        self.sample, self.epochs, self.lr, self.spelling = sample, epochs, lr, spelling
        self.notes: list[str] = []
        self.history: list[cpu.Epoch] = []
        self.compiling = 0.0  # seconds, which are none of training

    def build(self, vocabulary: int) -> None:
        assert isinstance(self.predict, Predictor) and isinstance(self.objective, Objective)
        self.vocabulary = vocabulary
        if vocabulary < len(SPECIALS) + 2:
            raise UserError(
                f"the vocabulary has {counted(max(vocabulary - len(SPECIALS), 0), 'word')}; vectors need two or more: "
                "lower tokens.min_count, or give more text"
            )
        if isinstance(self.predict, CbowProduct) and not hasattr(self.objective, "number"):
            raise UserError(f"loss={self.objective.part_name} with predict=cbow-product; allowed: loss=negative")
        buckets = self.spelling.buckets if isinstance(self.spelling, Spelling) else 0
        self.register_buffer("vectors", self._first(vocabulary))
        rows = self.objective.rows(vocabulary)
        unit = isinstance(self.predict, CbowProduct)  # a length of 0 cannot be made 1
        self.register_buffer("outputs", self._first(rows) if unit else torch.zeros(rows, self.width))
        self.register_buffer("counts", torch.zeros(vocabulary, dtype=torch.int64))
        self.register_buffer("pieces", self._first(buckets), persistent=buckets > 0)

    def _first(self, rows: int) -> Tensor:
        return (2 * torch.rand(rows, self.width) - 1) / self.width

    def size(self) -> int:
        return sum(table.numel() for table in (self.vectors, self.outputs, self.pieces))

    def fit(
        self,
        shards: Tokens,
        on_progress: Callable[..., None] | None = None,
        how: Fitting = Fitting(),  # noqa: B008 - it is frozen
    ) -> None:
        """Learns in `epochs` passes over the text."""
        tell = on_progress or (lambda done, part="": None)
        counts = count_words(shards, self.vocabulary)
        if not counts.any():
            raise UserError("the text has no known word; lower tokens.min_count, or raise tokens.size")
        self.counts = torch.from_numpy(counts)
        course = self._course(shards, counts, how)
        self.history = self._learn(course, how, tell)
        self._take(course)

    def _learn(self, course: cpu.Course, how: Fitting, tell: cpu.Tell) -> list[cpu.Epoch]:
        assert isinstance(self.predict, Predictor) and isinstance(self.objective, Objective)
        if not self.loops_can():
            return plain.learn(course, self.predict, self.objective, tell=tell)
        if self.vectors.device.type == "cuda":
            if gpu.can(course.world) and not how.deterministic:
                return gpu.learn(course, self.vectors.device, tell=tell)
            self.notes.append("learnt on the CPU: the GPU knows skipgram and cbow with drawn words, not deterministic")
        self.compiling = cpu.make_ready(course, deterministic=how.deterministic, tell=tell)
        return cpu.learn(course, deterministic=how.deterministic, tell=tell)

    def loops_can(self) -> bool:
        """Whether the compiled loops know this predictor and this objective."""
        return not (isinstance(self.predict, CbowProduct) or isinstance(self.objective, Softmax) or switch.plain())

    def held_out(self, shards: Tokens, how: Fitting = Fitting()) -> float:  # noqa: B008 - it is frozen
        """The mean loss of a prediction on another text."""
        course = self._course(shards, self.counts.cpu().numpy(), how)
        if self.loops_can():
            return cpu.measure(course)
        return plain.measure(course, self.predict, self.objective)  # pyright: ignore[reportArgumentType]

    def _course(self, shards: Tokens, counts: np.ndarray, how: Fitting) -> cpu.Course:
        assert isinstance(self.predict, Predictor) and isinstance(self.objective, Objective)
        plan, noise, ways = self.objective.prepare(self.predict.plan(), counts)
        world, kept = World(plan, noise, ways, self._spelt(how.words)), shares(counts, self.sample)
        at_once = cpu.bearable(plan, self.objective.heat(counts), counts, kept, self.lr)
        many = how.threads or threads()
        return cpu.Course(shards, kept, world, self._tables(), self.epochs, self.lr, how.seed, many, at_once)

    def _spelt(self, words: Sequence[str]) -> Spelt:
        if not isinstance(self.spelling, Spelling):
            return NOT_SPELT
        from foresay.vectors.spelling import all_pieces

        assert len(words) == self.vocabulary
        own = self.spelling
        first, rows = all_pieces(words, own.shortest, own.longest, own.buckets)
        return Spelt(first.astype(np.int64), rows.astype(np.int64) + self.vocabulary)

    def _tables(self) -> Tables:
        """The tables with rows of whole vectors of sixteen."""
        width = -(-self.width // 16) * 16
        inputs = aligned(self.vocabulary + len(self.pieces), width)
        inputs[: self.vocabulary, : self.width] = self.vectors.cpu().numpy()
        inputs[self.vocabulary :, : self.width] = self.pieces.cpu().numpy()
        outputs = aligned(len(self.outputs), width)
        outputs[:, : self.width] = self.outputs.cpu().numpy()
        return Tables(inputs, outputs)

    def _take(self, course: cpu.Course) -> None:
        inputs, outputs = course.tables
        place = self.vectors.device
        vectors = np.array(inputs[: self.vocabulary, : self.width])
        if self.spelling is not None:
            vectors = spelt_vectors(inputs, course.world.spelt, self.vocabulary)[:, : self.width]
        self.vectors = torch.from_numpy(np.ascontiguousarray(vectors)).to(place)
        self.pieces = torch.from_numpy(np.array(inputs[self.vocabulary :, : self.width])).to(place)
        self.outputs = torch.from_numpy(np.array(outputs[:, : self.width])).to(place)


def count_words(shards: Tokens, vocabulary: int) -> np.ndarray:
    """How often each word stands in a text; 0 for what is no word."""
    counts = count_tokens(shards, vocabulary)
    counts[: len(SPECIALS)] = 0
    return counts


def shares(counts: np.ndarray, sample: float) -> np.ndarray:
    """How often of 2**32 times a word is kept: sqrt(s/f) + s/f."""
    frequency = np.maximum(counts, 1) / max(counts.sum(), 1)
    share = np.sqrt(sample / frequency) + sample / frequency if sample else np.ones(len(counts))
    return np.where(counts > 0, np.minimum(share, 1.0) * ALWAYS, 0).astype(np.int64)


def spelt_vectors(inputs: np.ndarray, spelt: Spelt, vocabulary: int) -> np.ndarray:
    """Each word's own row and its pieces', averaged."""
    lengths = np.diff(spelt.first)
    sums = inputs[:vocabulary].astype(np.float64)
    words = np.repeat(np.arange(vocabulary), lengths)
    np.add.at(sums, words, inputs[spelt.pieces])
    return (sums / (1 + lengths)[:, None]).astype(np.float32)
