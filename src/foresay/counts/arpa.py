r"""n-gram models as ARPA files, plain or packed with gzip: what other tools read and write.

    \data\
    ngram 1=4
    ngram 2=3

    \1-grams:
    -0.7782 the   -0.3010         log10 P, the words, log10 of what missing words are multiplied with
    ...
    \end\

Nothing that a file declares is believed before it is read: a count that lies costs no memory.
"""

from __future__ import annotations

import gzip
import math
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from foresay.counts.table import Table, fill, link, make_room
from foresay.errors import UserError
from foresay.text.tokens import START, STOP, UNK

SPECIAL = {START: "<s>", STOP: "</s>", UNK: "<unk>"}
ZERO = -99.0  # the logarithm of an impossibility, as everybody writes it
TEN = math.log(10)
MOST = 64  # the highest order
DIGITS = 15  # of a declared count
BLOCK = 1 << 20  # bytes written at a time
PACKING = 6  # level of gzip: 9 takes five times as long for a fiftieth less


def write(path: str | Path, table: Table, words: Sequence[str]) -> None:
    """The model as a file; `words` are the spellings of the ids, of which <start>, <stop> and <unk> have their own."""
    path = Path(path)
    if len(table.flat):
        raise UserError(
            "an ARPA file is of models that back off to shorter contexts; train with smoothing witten-bell, absolute, "
            "kneser-ney, modified-kneser-ney, katz or stupid"
        )
    spelt = [SPECIAL.get(number, word) for number, word in enumerate(words)]
    strange = next((word for word in spelt if not word or word.split() != [word]), None)
    if strange is not None:
        raise UserError(f"an ARPA file cannot hold the word {strange!r}, which is empty or has blanks; use word tokens")
    encoded = [word.encode() for word in spelt]
    sizes = np.diff(table.orders[1:])
    sizes[0] = _shown(table).sum()
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with gzip.open(aside, "wb", PACKING) if path.suffix == ".gz" else aside.open("wb") as file:
            file.write(b"\\data\\\n")
            file.writelines(b"ngram %d=%d\n" % (n, size) for n, size in enumerate(sizes, 1))
            file.writelines(_blocks(table, encoded))
            file.write(b"\n\\end\\\n")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _shown(table: Table) -> np.ndarray:
    """The words that a file holds: those that can come, and <start>."""
    shown = np.isfinite(table.log_prob[1 : 1 + table.vocabulary])
    shown[START] = True
    return shown


def _blocks(table: Table, words: list[bytes]) -> Iterator[memoryview | bytes]:
    """The n-grams of all orders, each with its heading, in blocks."""
    from foresay.kernels.ngram import spell as kernel  # numba takes a second to import

    letters = np.frombuffer(b"".join(words), np.uint8)
    spelt = kernel.Spelt(letters, np.cumsum([0, *map(len, words)]))
    log_prob = table.log_prob.copy()
    log_prob[1 + START] = -np.inf
    lines = kernel.Lines(table.word, log_prob, table.back, table.first, _shown(table), TEN, ZERO)
    for n in range(1, table.order + 1):
        yield b"\n\\%d-grams:\n" % n
        at, end, path = int(table.orders[n]), int(table.orders[n + 1]), table.orders[1:n].copy()
        longest = 3 + 2 * kernel.NUMBER + n * (1 + max(map(len, words)))
        out = np.empty(max(BLOCK, longest), np.uint8)
        while at < end:
            at, used = kernel.spell_lines(at, end, path, longest, lines, spelt, out)
            yield out[:used].data


def read(path: str | Path) -> tuple[Table, list[str]]:
    """The model of a file and its words; the ids of <start>, <stop> and <unk> are those of every vocabulary here."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with (gzip.open if packed else open)(path, "rt", encoding="utf-8", newline="\n") as file:
            return _Reader(path, file).read()
    except FileNotFoundError:
        raise UserError(f"{path} is missing; give the path of an ARPA file") from None
    except (EOFError, zlib.error, OSError) as error:
        raise UserError(f"{path} cannot be read to its end: {error}; copy it again") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no UTF-8 text: {error.reason} at byte {error.start}; convert it") from None


class _Reader:
    """Reads line by line, so that every complaint says where."""

    def __init__(self, path: Path, file: TextIO):
        self.path, self.lines, self.number = path, iter(file), 0

    def wrong(self, what: str) -> UserError:
        return UserError(f"{self.path} line {self.number}: {what}; write the file again")

    def line(self) -> str | None:
        """The next line that is not empty, None at the end."""
        for line in self.lines:
            self.number += 1
            if line.strip():
                return line.strip()
        return None

    def read(self) -> tuple[Table, list[str]]:
        line = self.line()
        while line is not None and line != "\\data\\":  # a heading may stand before
            line = self.line()
        if line is None:
            raise self.wrong("no \\data\\: this is no ARPA file")
        declared: list[int] = []
        while (line := self.line()) is not None and line.startswith("ngram "):
            name, _, count = line.removeprefix("ngram ").partition("=")
            if len(declared) >= MOST:
                raise UserError(f"{self.path} has n-grams of more than {MOST} words; allowed: up to {MOST}")
            right = count.strip().isdecimal() and len(count) <= DIGITS
            if name.strip() != str(len(declared) + 1) or not right:
                raise self.wrong(f"{line[:60]!r} is not 'ngram {len(declared) + 1}=COUNT'")
            declared.append(int(count))
        words = ["<pad>", SPECIAL[UNK], SPECIAL[START], SPECIAL[STOP], "<mask>"]
        known = {word: number for number, word in enumerate(words) if number in SPECIAL}
        orders: list[_Order] = []
        for n, count in enumerate(declared, 1):
            if line != f"\\{n}-grams:":
                raise self.wrong(f"{line!r} stands where \\{n}-grams: should")
            orders.append(_Order())
            while (line := self.line()) is not None and not line.startswith("\\"):
                self._take(line, n, len(declared), words, known, orders[-1])
            if len(orders[-1].probs) != count:
                raise self.wrong(f"{len(orders[-1].probs)} {n}-grams stand there, and {count} were declared")
        if line != "\\end\\" or not orders:
            raise self.wrong("no \\end\\: the file is cut off")
        if STOP not in orders[0].ids:
            raise self.wrong(f"no 1-gram {SPECIAL[STOP]}: no sentence could end")
        return self._joined(orders, len(words)), words

    def _take(self, line: str, n: int, highest: int, words: list[str], known: dict[str, int], order: _Order) -> None:
        parts = line.split()
        if len(parts) not in (n + 1, n + 2) or (len(parts) == n + 2 and n == highest):
            raise self.wrong(f"{len(parts)} things in a line of \\{n}-grams:")
        numbers = [parts[0], *parts[n + 1 :]]
        try:
            prob, back = [float(number) for number in [*numbers, "0"][:2]]
        except ValueError:
            raise self.wrong(f"{' and '.join(numbers)!r} should be numbers") from None
        if not prob <= 1e-6 or math.isnan(back) or back == math.inf:
            raise self.wrong(f"log10 of a probability is at most 0 and a number, not {parts[0]} and {back:g}")
        if n == 1:
            if parts[1] in order.seen:
                raise self.wrong(f"the word {parts[1]!r} stands there twice")
            order.seen.add(parts[1])
            if parts[1] not in known:
                known[parts[1]] = len(words)
                words.append(parts[1])
        try:
            order.ids.extend(known[word] for word in parts[1 : n + 1])
        except KeyError as error:
            raise self.wrong(f"the word {error.args[0]!r} is not among the 1-grams") from None
        order.probs.append(prob)
        order.backs.append(back)

    def _joined(self, orders: list[_Order], vocabulary: int) -> Table:
        """The table: n-grams sorted by context and word, each found by its words."""
        table = make_room([vocabulary, *(len(order.probs) for order in orders[1:])])
        keys: list[np.ndarray] = []  # of each order: context * V + word, sorted
        backs = np.zeros(1)  # of the order before
        for n, order in enumerate(orders, 1):
            ids = np.array(order.ids, np.int64).reshape(-1, n)
            if n == 1:
                probs, rest = np.full(vocabulary, -np.inf), np.zeros(vocabulary)
                probs[ids[:, 0]], rest[ids[:, 0]] = order.probs, order.backs
                fill(table, 1, np.arange(vocabulary), _natural(probs), 0, np.array([0, vocabulary]), backs)
                backs = rest
                continue
            parent = _numbers(ids[:, :-1], keys, vocabulary)
            if (parent < 0).any():
                raise self.wrong(f"a {n}-gram begins with {n - 1} words that are not among the {n - 1}-grams")
            key = parent * vocabulary + ids[:, -1]
            order_of = np.argsort(key, kind="stable")
            key, ids = key[order_of], ids[order_of]
            if len(key) and (np.diff(key) == 0).any():
                raise self.wrong(f"a {n}-gram stands there twice")
            suffix = _suffixes(ids, keys, vocabulary, table.orders)
            children = np.concatenate([[0], np.cumsum(np.bincount(key // vocabulary, minlength=len(backs)))])
            probs = np.array(order.probs)[order_of]
            fill(table, n, key % vocabulary, _natural(probs), suffix, children, _natural(backs))
            keys.append(key)
            backs = np.array(order.backs)[order_of]
        return link(table)


class _Order:
    """What was read of one order."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.probs: list[float] = []
        self.backs: list[float] = []
        self.seen: set[str] = set()


def _numbers(ids: np.ndarray, keys: list[np.ndarray], vocabulary: int) -> np.ndarray:
    """The numbers of n-grams (rows of ids) within their order, -1 where there is no such one."""
    numbers = ids[:, 0].copy()
    for column in range(1, ids.shape[1]):
        wanted = np.where(numbers < 0, -1, numbers * vocabulary + ids[:, column])
        known = keys[column - 1]
        at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        numbers = np.where(known[at] == wanted, at, -1) if len(known) else np.full(len(ids), -1)
    return numbers


def _suffixes(ids: np.ndarray, keys: list[np.ndarray], vocabulary: int, begins: np.ndarray) -> np.ndarray:
    """Where the longest end of each n-gram stands that is one too: files may leave some out."""
    found = np.full(len(ids), -1)
    for skipped in range(1, ids.shape[1]):
        numbers = _numbers(ids[:, skipped:], keys, vocabulary)
        place = numbers + begins[ids.shape[1] - skipped]
        found = np.where((found < 0) & (numbers >= 0), place, found)
    return found


def _natural(logs: np.ndarray) -> np.ndarray:
    """Natural logarithms of those of a file."""
    return np.where(logs > ZERO, logs * TEN, -np.inf)
