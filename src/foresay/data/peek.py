"""A first look at a text: how large it is and a sample of it, without reading it whole."""

from __future__ import annotations

from foresay.data.compressed import Damaged, NotText
from foresay.data.corpus import Corpus
from foresay.data.source import Source
from foresay.errors import UserError

SAMPLE = 200_000  # bytes, in four places of the text
_FILES = 16  # looked into, at most


def peek(corpus: str | Corpus) -> tuple[str, int]:
    """A sample of the train text and its size in bytes, roughly; a text that is not there is a UserError."""
    corpus = corpus if isinstance(corpus, Corpus) else Corpus(train=corpus)
    sources = corpus.sources("train")
    if not sources:
        return "", 0
    chosen = [sources[i * len(sources) // min(len(sources), _FILES)] for i in range(min(len(sources), _FILES))]
    pieces = max(4 // len(chosen), 1)
    sample, text, file = b"", 0.0, 0
    for source in chosen:
        try:
            content, length = _look(source, pieces, SAMPLE // (pieces * len(chosen)))
        except (NotText, Damaged):  # told, or left out with a note, when it is read whole
            continue
        except OSError as error:
            raise UserError(f"{source.name} cannot be read: {error.strerror}; check its permissions") from None
        sample, text, file = sample + content, text + length, file + _size(source, length)
    size = text if len(chosen) == len(sources) else text / max(file, 1) * sum(_size(source, 0) for source in sources)
    return sample.replace(b"\0", b"\n").decode("utf-8", "ignore"), round(size)


def _size(source: Source, text: float) -> float:
    """Bytes on the disk; of what is not there, of its text."""
    return source.path.stat().st_size if source.path else text


def _look(source: Source, pieces: int, length: int) -> tuple[bytes, float]:
    """Some of a source, and how large its text is: told by how much of the file the beginning took."""
    with source.open() as stream:
        if stream.raw is not None and stream.file is stream.raw:
            found = []
            for i in range(pieces):
                stream.raw.seek(i * stream.size // pieces)
                found.append(stream.read(length))
            return b"".join(found), source.state()[0]
        content = stream.read(pieces * length)
        ahead = stream.read(2**20)  # of a packed file, much may be read before the first byte comes out
        read = len(content) + len(ahead)
        return content, read / max(stream.share, 1e-9) if ahead else read
