"""A word's vector from its characters (Kim et al. 2016; ELMo, Peters et al. 2018): kernels, max over time, highways.

    c_1 ... c_n  the vectors of a word's bytes, its begin and its end among them (text/word_bytes.py)
    m_k = max_t act(K_k [c_t; ...; c_{t+w-1}] + b_k)        for each of the kernels of each width w
    z   = highway(... highway([m_1; ...; m_K]))             highway.py, as many as asked for
    x   = z Wp + bp

A kernel wider than the word sees zeros after its end; otherwise it stays inside the word: how far a batch is padded
changes nothing. A word costs its products once in a batch, however often it stands there; and where nothing trains,
once for all: its vector is kept.

The symbols of the vocabulary are told before `build` (`symbols`) and stay with the weights; built without them, each is
spelt by its number. Words that are in no vocabulary have vectors too: those of a batch that come with their letters
(`spelt` and `characters`, data/strange.py), and any (`vectors`).

ids (B, T) -> x (B, T, D).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.embed.dropout import drop
from foresay.embed.embedding import Embedding
from foresay.embed.highway import Highway
from foresay.errors import UserError
from foresay.kernels import windows
from foresay.kernels.switch import in_file, in_graph, plain
from foresay.kernels.thin import linear
from foresay.parts import Count, Share, Size, part
from foresay.text.word_bytes import ALPHABET, ENDS, numbered, numbered_symbols

AT_ONCE = 1024  # words whose vectors are worked out together to be kept
USUAL = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 128]]


@part("embedding", "characters")
class Characters(Embedding):
    """A word's vector from its characters: kernels over them, max over time, highway layers, a projection."""

    wants_symbols = True
    symbols: Sequence[str] | None = None  # the vocabulary; given before it is built
    spelling: Tensor  # (V, W)

    def __init__(
        self,
        *,
        size: Size = 256,
        letters: Size = 16,
        kernels: list[list[int]] = USUAL,  # [width, how many], ...
        highways: Count = 1,
        activation: Literal["relu", "tanh"] = "relu",
        longest: Size = 50,
        dropout: Share = 0.0,
        frozen: bool = False,
    ) -> None:
        super().__init__()
        self.width, self.letters, self.kernels, self.highways = size, letters, kernels, highways
        self.activation, self.longest, self.dropout, self.frozen = activation, longest, dropout, frozen
        if not kernels or any(len(one) != 2 or min(one) < 1 or one[0] > longest + 2 for one in kernels):
            raise UserError(
                f"embedding.kernels={kernels}; allowed: pairs [width, how many] such as [[1, 32], [3, 64]], each "
                f"width at most longest + 2 = {longest + 2}"
            )
        self._kept: _Kept | None = None

    def build(self, vocabulary: int) -> None:
        symbols = self.symbols if self.symbols is not None else [str(number) for number in range(vocabulary)]
        assert len(symbols) == vocabulary, "a spelling for each symbol"
        self.register_buffer("spelling", torch.from_numpy(numbered_symbols(symbols, self.longest)))
        cut = sum(len(symbol.encode("utf-8", "surrogatepass")) > self.longest for symbol in symbols)
        self.notes = (
            [f"{cut:,} symbols have more than embedding.longest={self.longest} bytes and are cut"] if cut else []
        )
        self.alphabet = nn.Parameter(torch.randn(ALPHABET, self.letters))
        joined = sum(count for _, count in self.kernels)
        self.convolutions = cast(
            "list[nn.Conv1d]", nn.ModuleList(nn.Conv1d(self.letters, count, width) for width, count in self.kernels)
        )
        self.highway = nn.Sequential(*(Highway(joined) for _ in range(self.highways)))
        self.project = nn.Linear(joined, self.width)
        self.requires_grad_(not self.frozen)

    def forward(self, batch: Batch) -> Tensor:
        words = batch.ids if batch.spelt is None else batch.spelt
        assert words is not None, "the characters embedding reads ids"
        strange = None if batch.characters is None else self._cut(batch.characters)
        return drop(self._of_words(words, strange), self.dropout, self.training)

    @torch.no_grad()
    def vectors(self, words: Sequence[str]) -> Tensor:
        """The vectors (N, D) of any words, known to the vocabulary or not."""
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise UserError(f"words={words!r}; allowed: a list of words")
        return self._read(torch.from_numpy(numbered(words, self.longest)).to(self.spelling.device))

    def train(self, mode: bool = True) -> Characters:
        if mode:
            self._kept = None
        return super().train(mode)

    def _of_words(self, ids: Tensor, strange: Tensor | None) -> Tensor:
        """Of words by number: symbols, and from V on the rows (U, W) of `strange`."""
        trains = torch.is_grad_enabled() and any(p.requires_grad for p in self.parameters())
        if in_graph() or in_file():  # nothing may depend on what the ids are, nor wait for it
            return self._read(self._spelt(ids.flatten(), strange), trim=False).unflatten(0, ids.shape)
        if trains or (self.training and not self.frozen):
            words, places = ids.unique(return_inverse=True)
            return F.embedding(places, self._read(self._letters(words, strange)))
        if self._kept is None or not self._kept.holds(self):
            self._kept = _Kept(self)
        if strange is None:
            return self._kept.vectors(self, ids)
        known = ids < len(self.spelling)
        x = self._kept.vectors(self, ids.where(known, 0))
        words, places = (ids - len(self.spelling)).clamp(min=0).unique(return_inverse=True)
        return torch.where(known[..., None], x, F.embedding(places, self._read(strange[words]).to(x.dtype)))

    def _spelt(self, words: Tensor, strange: Tensor | None) -> Tensor:
        """The numbers (N, W) of words as they come, known or strange."""
        if strange is None:
            return self.spelling[words]
        known, last = words < len(self.spelling), len(self.spelling) - 1
        own, other = self.spelling[words.clamp(max=last)], strange[(words - last - 1).clamp(min=0)]
        return torch.where(known[:, None], own, other.to(own.dtype))

    def _letters(self, words: Tensor, strange: Tensor | None) -> Tensor:
        """The numbers (N, W) of distinct words in order."""
        if strange is None:
            return self.spelling[words]
        known = words < len(self.spelling)
        return torch.cat([self.spelling[words[known]], strange[words[~known] - len(self.spelling)]])

    def _cut(self, characters: Tensor) -> Tensor:
        """Numbers (U, W) in as many columns as a spelling has; a longer word ends there."""
        wide = self.longest + 2
        cut = F.pad(characters[:, :wide], (0, max(wide - characters.shape[1], 0)))
        last = cut[:, -1:].clamp(max=ENDS)  # a letter in the last column: the word goes on after it
        return torch.cat([cut[:, :-1], last], 1)

    def _read(self, spelt: Tensor, *, trim: bool = True) -> Tensor:
        """Numbers (N, W) -> x (N, D)."""
        real = spelt > 0
        lengths = real.sum(1)
        if trim and len(spelt):
            spelt, real = spelt[:, : (widest := int(lengths.max()))], real[:, :widest]
        c = F.embedding(spelt.long(), self.alphabet) * real[..., None]
        fast = c.is_cuda and not plain()
        m = torch.cat([(windows.largest if fast else largest)(one, c, lengths) for one in self.convolutions], 1)
        m = m.relu() if self.activation == "relu" else m.tanh()  # both rise: the max before is the max after
        return linear(self.project, self.highway(m))


def largest(convolution: nn.Conv1d, c: Tensor, lengths: Tensor) -> Tensor:
    """max_t of each of its kernels: c (N, W, letters) -> (N, kernels)."""
    wide = convolution.kernel_size[0]
    y = convolution(F.pad(c.transpose(1, 2), (0, wide - 1)))  # a window from every letter on
    begins = torch.arange(y.shape[2], device=y.device) <= (lengths - wide).clamp(min=0)[:, None]
    return y.masked_fill(~begins[:, None], float("-inf")).amax(2)


class _Kept:
    """Vectors of the symbols that were met, for as long as no weight changes."""

    def __init__(self, embedding: Characters):
        self.versions = _versions(embedding)
        self.known: Tensor | None = None

    def holds(self, embedding: Characters) -> bool:
        return self.versions == _versions(embedding)

    def vectors(self, embedding: Characters, ids: Tensor) -> Tensor:
        with torch.inference_mode(False), torch.no_grad():  # what is kept may meet a training of what comes after
            if self.known is None:
                self.known = torch.zeros(len(embedding.spelling), dtype=torch.bool, device=ids.device)
                self.table = embedding.alphabet.new_empty(len(embedding.spelling), embedding.width)
            words = ids.unique()
            missing = words[~self.known[words]]
            for new in missing.split(AT_ONCE) if len(missing) else ():
                self.table[new] = embedding._read(embedding.spelling[new]).to(self.table.dtype)
                self.known[new] = True
        return F.embedding(ids, self.table)


def _versions(embedding: Characters) -> list[tuple[int, int]]:
    """What changes when a tensor does, by name or in place."""
    tensors = (*embedding.parameters(), embedding.spelling)
    return [(tensor.data_ptr(), -1 if tensor.is_inference() else tensor._version) for tensor in tensors]
