r"""n-gram models as ARPA files, plain or packed: what other tools read and write.

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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from foresay.counts.arpa_files import check_place, opened
from foresay.counts.table import Table, fill, link, make_room
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS, START, STOP, UNK

if TYPE_CHECKING:
    from foresay.kernels.ngram.words import Words

SPECIAL = {START: "<s>", STOP: "</s>", UNK: "<unk>"}
CAPITAL = "<UNK>"  # as others spell it
ZERO = -99.0  # the logarithm of an impossibility, as everybody writes it
TEN = math.log(10)
MOST = 64  # the highest order
DIGITS = 15  # of a declared count
BLOCK = 1 << 20  # bytes written at a time
PIECE = 1 << 22  # bytes read at a time
MANY = 10_000  # lines that are worth a compiled loop
PACKING = 6  # level of gzip: 9 takes five times as long for a fiftieth less


def write(path: str | Path, table: Table, words: Sequence[str]) -> None:
    """The model as a file; `words` are the spellings of the ids, of which <start>, <stop> and <unk> have their own."""
    path = Path(path)
    if len(table.flat):
        raise UserError(
            "an ARPA file is of models that back off to shorter contexts; train with smoothing witten-bell, absolute, "
            "kneser-ney, modified-kneser-ney, katz or stupid"
        )
    check_place(path)
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
    with opened(path) as file:
        return _Reader(path, file).read()


class _Reader:
    """Reads line by line, so that every complaint says where; many lines of one kind by a compiled loop."""

    def __init__(self, path: Path, file: BinaryIO):
        self.path, self.file, self.number = path, file, 0
        self.block, self.at, self.whole = b"", 0, 0  # some bytes, how many are read, how many are of whole lines
        self.passed = 0  # bytes before them
        self.letters: np.ndarray | None = None  # the same as an array, when a loop has asked for it

    def wrong(self, what: str) -> UserError:
        if not self.number:
            return UserError(f"{self.path} is empty; give an ARPA file")
        return UserError(f"{self.path} line {self.number}: {what}; write the file again")

    def line(self) -> str | None:
        """The next line that is not empty, None at the end."""
        while self.at < self.whole or self._more():
            end = self.block.index(b"\n", self.at)
            try:
                line = self.block[self.at : end].decode().strip()
            except UnicodeDecodeError as error:
                place = self.passed + self.at + error.start
                raise UserError(f"{self.path} is no UTF-8 text: {error.reason} at byte {place}; convert it") from None
            self.number, self.at = self.number + 1, end + 1
            if line:
                return line
        return None

    def _more(self) -> bool:
        """Goes on to the next lines; False where there are none."""
        pieces = [self.block[self.at :]]
        while piece := self.file.read(PIECE):
            pieces.append(piece)
            if b"\n" in piece:
                break
        else:
            pieces += [b"\n"] if pieces[0] or len(pieces) > 1 else []
        self.passed, self.at, self.block, self.letters = self.passed + self.at, 0, b"".join(pieces), None
        self.whole = self.block.rfind(b"\n") + 1
        return self.whole > 0

    def read(self) -> tuple[Table, list[str]]:
        line = self.line()
        line = line and line.removeprefix("\ufeff")
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
                there = "the file ends" if line is None else f"{line[:60]!r} stands".replace("\\\\", "\\")
                raise self.wrong(f"{there} where \\{n}-grams: should stand")
            order = _Order()
            orders.append(order)
            spelt = _spelt(known, len(words)) if n > 1 and count >= MANY else None
            while (line := self.line()) is not None and not line.startswith("\\"):
                self._take(line, n, len(declared), words, known, order)
                if spelt is not None:
                    self._take_many(n, n < len(declared), spelt, order)
            if n == 1:
                known = _with_unknown(words, known, order)
            if order.size() != count:
                raise self.wrong(f"the number of {n}-grams is {order.size()}, and {count} was declared")
        if line != "\\end\\" or not orders:
            raise self.wrong("no \\end\\: the file is cut off")
        if STOP not in orders[0].ids:
            raise self.wrong(f"no 1-gram {SPECIAL[STOP]}: no sentence could end")
        return self._joined(orders, len(words)), words

    def _take(self, line: str, n: int, highest: int, words: list[str], known: dict[str, int], order: _Order) -> None:
        parts = line.split()
        if len(parts) not in (n + 1, n + 2) or (len(parts) == n + 2 and n == highest):
            needed = f"{n + 1}" if n == highest else f"{n + 1} or {n + 2}"
            raise self.wrong(f"a line of \\{n}-grams: has {needed} fields, not {len(parts)}")
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
            word = error.args[0]
            raise self.wrong(f"the word {word!r} is not among the 1-grams{_with_nul(word, known)}") from None
        order.probs.append(prob)
        order.backs.append(back)

    def _take_many(self, n: int, backs_off: bool, words: Words, order: _Order) -> None:
        """The lines that follow, as far as they are written as usual and in the block."""
        from foresay.kernels.ngram import lines as kernel  # numba takes a second to import

        if self.letters is None:
            self.letters = np.frombuffer(self.block + bytes(16 - len(self.block) % 8), np.uint8)
        room = (self.whole - self.at) // (2 * n + 2) + 1
        ids, probs, backs = np.empty(room * n, np.int64), np.empty(room), np.empty(room)
        eights = self.letters.view(np.uint64)
        self.at, taken = kernel.read_lines(
            self.letters, eights, self.at, self.whole, n, backs_off, words, ids, probs, backs
        )
        order.blocks.append((ids[: taken * n].copy(), probs[:taken].copy(), backs[:taken].copy()))
        self.number += taken

    def _joined(self, orders: list[_Order], vocabulary: int) -> Table:
        """The table: n-grams sorted by context and word, each found by its words."""
        table = make_room([vocabulary, *(order.size() for order in orders[1:])])
        keys: list[np.ndarray] = []  # of each order: context * V + word, sorted
        backs = np.zeros(1)  # of the order before
        ends = np.zeros(0, np.int64)  # of each of its n-grams the number of all its words but the first, -1: none
        for n, order in enumerate(orders, 1):
            ids, prob, back = order.arrays(n)
            if n == 1:
                probs, rest = np.full(vocabulary, -np.inf), np.zeros(vocabulary)
                probs[ids[:, 0]], rest[ids[:, 0]] = prob, back
                fill(table, 1, np.arange(vocabulary), _natural(probs), 0, np.array([0, vocabulary]), backs)
                backs, ends = rest, np.zeros(vocabulary, np.int64)
                continue
            parent = _numbers(ids[:, :-1], keys, vocabulary)
            if (parent < 0).any():
                raise self.wrong(f"a {n}-gram begins with {n - 1} words that are not among the {n - 1}-grams")
            key = parent * vocabulary + ids[:, -1]
            order_of = np.argsort(key, kind="stable")
            key, ids = key[order_of], ids[order_of]
            ends = ids[:, -1] if n == 2 else _found(keys[-1], ends[key // vocabulary], ids[:, -1], vocabulary)
            if len(key) and (np.diff(key) == 0).any():
                raise self.wrong(f"a {n}-gram stands there twice")
            suffix, far = ends + table.orders[n - 1], ends < 0
            suffix[far] = _suffixes(ids[far], keys, vocabulary, table.orders)
            children = np.concatenate([[0], np.cumsum(np.bincount(key // vocabulary, minlength=len(backs)))])
            fill(table, n, key % vocabulary, _natural(prob[order_of]), suffix, children, _natural(backs))
            keys.append(key)
            backs = back[order_of]
        return link(table)


class _Order:
    """What was read of one order."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.probs: list[float] = []
        self.backs: list[float] = []
        self.seen: set[str] = set()
        self.blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # ids, probs, backs of many

    def size(self) -> int:
        return len(self.probs) + sum(len(probs) for _, probs, _ in self.blocks)

    def arrays(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """ids (N, n), log10 P (N,) and what missing words are multiplied with (N,)."""
        one = np.array(self.ids, np.int64), np.array(self.probs), np.array(self.backs)
        ids, probs, backs = (np.concatenate(each) for each in zip(one, *self.blocks, strict=True))
        return ids.reshape(-1, n), probs, backs


def _with_unknown(words: list[str], known: dict[str, int], order: _Order) -> dict[str, int]:
    """The ids of words, in a file that spells the unknown one <UNK> as <unk> is spelt elsewhere."""
    if SPECIAL[UNK] in order.seen or CAPITAL not in order.seen:
        return known
    gone = known[CAPITAL]
    del words[gone]
    order.ids = [UNK if number == gone else number - (number > gone) for number in order.ids]
    there = {word: number for number, word in enumerate(words) if number in SPECIAL or number >= len(SPECIALS)}
    del there[SPECIAL[UNK]]
    return {CAPITAL: UNK, **there}


def _with_nul(word: str, known: dict[str, int]) -> str:
    """What is said of a known word that looks the same where NUL bytes are not shown."""
    alike = next((one for one in known if "\0" in one and one.replace("\0", "") == word), None)
    return "" if alike is None else f", where {alike!r} has a NUL byte"


def _spelt(known: dict[str, int], number: int) -> Words:
    """The words by their letters, for a compiled loop."""
    from foresay.kernels.ngram.words import spelt_words  # numba takes a second to import

    return spelt_words(known, number, -1, STOP)


def _numbers(ids: np.ndarray, keys: list[np.ndarray], vocabulary: int) -> np.ndarray:
    """The numbers of n-grams (rows of ids) within their order, -1 where there is no such one."""
    numbers = ids[:, 0].copy()
    for column in range(1, ids.shape[1]):
        numbers = _found(keys[column - 1], numbers, ids[:, column], vocabulary)
    return numbers


def _found(known: np.ndarray, contexts: np.ndarray, words: np.ndarray, vocabulary: int) -> np.ndarray:
    """The numbers of contexts, each with a word after it, among those of their order; -1 where there is none."""
    if not len(known):
        return np.full(len(words), -1)
    wanted = np.where(contexts < 0, -1, contexts * vocabulary + words)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, at, -1)


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
