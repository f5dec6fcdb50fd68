"""Files of vectors in every form: told by what is in them, and where that leaves a doubt by their name.

    word2vec         .txt .vec        a line 'WORDS WIDTH', then lines of a word and its numbers (fastText's .vec too)
    word2vec-binary  .bin             the same line, then words and float32
    glove            .glove.txt       lines of a word and its numbers
    safetensors      .safetensors     memory-mapped
    projector        a folder         for TensorBoard; written only

The text forms and .bin may be packed with gzip (.gz).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from foresay.errors import UserError, nearest
from foresay.vectors import binary_file, projector, run_folder, text_file
from foresay.vectors.opening import Source, opened
from foresay.vectors.run_folder import Which
from foresay.vectors.tensors_file import Tensors
from foresay.vectors.tensors_file import write as write_tensors

if TYPE_CHECKING:
    from foresay.vectors.word_vectors import WordVectors

Form = Literal["word2vec", "word2vec-binary", "glove", "safetensors", "projector"]
NAMES: dict[str, Form] = {
    ".glove.txt": "glove",
    ".txt": "word2vec",
    ".vec": "word2vec",
    ".bin": "word2vec-binary",
    ".safetensors": "safetensors",
}
# Files of other kinds by their first bytes, and what to do about them.
REFUSED = {
    rb"\x80[\x02-\x05]": "is a pickle, as gensim saves, which could run code: save it there with save_word2vec_format",
    rb"\xba\x16\x4f\x2f": "is fastText's own model; save its vectors there as text (.vec)",
    rb"PK\x03\x04": "is a zip file; unpack it and give the file inside",
    rb"\x93NUMPY": "is an array without words; give WordVectors(words, matrix) in Python",
}
LINES = 3  # looked at to tell figures from float32
_NUMBERS = re.compile(rb"[0-9eE+.nafiNAFI\- \t\r]+")


def parts_of(path: Path, most: int | None, which: Which) -> dict[str, Any]:
    """What the WordVectors of a file or of a run folder are made of."""
    if path.is_dir():
        if not run_folder.is_run(path):
            raise UserError(f"{path} is no run: it has no config.json; give the folder of a run, or a file of vectors")
        words, matrix, counts, spelling = run_folder.read(path, which)
        counts = None if counts is None else counts[:most]
        return {"words": words[:most], "matrix": matrix[:most], "counts": counts, "spelling": spelling}
    if which != "input":
        raise UserError(f"which={which!r} is for the folder of a run; the file {path} holds one vector for each word")
    with opened(path) as source:
        form = form_of(source)
        if form == "safetensors":
            return _of_tensors(Tensors(path), most)
        reader = binary_file if form == "word2vec-binary" else text_file
        words, matrix = reader.read(source, most)
        return {"words": words, "matrix": matrix}


def form_of(source: Source) -> Form:
    """The form of a file."""
    head, name = source.look(), source.path.name
    if not head:
        raise UserError(f"{source.path} is empty; give a file of vectors")
    for magic, what in REFUSED.items():
        if re.match(magic, head):
            raise UserError(f"{source.path} {what}")
    length = int.from_bytes(head[:8], "little")
    if not source.packed and (name.endswith(".safetensors") or (head[8:9] == b"{" and length < source.size)):
        return "safetensors"
    binary = name.endswith((".bin", ".bin.gz"))
    said = text_file.declared(head)
    if said is None:
        return "word2vec-binary" if binary else "glove"
    if _is_text(head, *said) or name.endswith((".txt", ".vec", ".txt.gz", ".vec.gz")):
        return "word2vec"
    broken = not binary and b"\0" not in head and _numbers(head.split(b"\n", 2)[1])
    return "word2vec" if broken else "word2vec-binary"


def _is_text(head: bytes, rows: int, width: int) -> bool:
    """Whether words with `width` numbers in figures stand in the first lines, and no more of them than declared.

    One line is not enough: a float32 may begin with a figure and a line's end.
    """
    lines = head.split(b"\n", LINES + 1)[1:]
    whole = lines[:-1] or lines
    more = rows < len(lines) and lines[rows].strip()
    return not more and all(_numbers(line) == width for line in whole[: min(rows, LINES)])


def _numbers(line: bytes) -> int:
    """How many numbers in figures stand after a word; 0 where something else does."""
    after = line.lstrip(b" \t").partition(b" ")[2]
    return len(after.split()) if _NUMBERS.fullmatch(after) else 0


def _of_tensors(tensors: Tensors, most: int | None) -> dict[str, Any]:
    words, matrix = tensors.words(), tensors.rows("vectors")
    if words is None:
        raise UserError(f"{tensors.path} has no words in its metadata; give a file that WordVectors.save wrote")
    counts = tensors.get("counts")
    if len(words) != len(matrix):
        raise tensors.wrong(f"has {len(words)} words and {len(matrix)} vectors")
    return {
        "words": words[:most],
        "matrix": matrix[:most],
        "counts": None if counts is None else counts[:most],
        "spelling": tensors.spelling(matrix.shape[1]),
    }


def form_for(path: Path, form: str | None) -> Form:
    """The form to write: the one that is given, or the one of the name."""
    if form is not None:
        for allowed in get_args(Form):
            if form == allowed:
                return allowed
        raise UserError(f"form={form!r}; allowed: {', '.join(get_args(Form))}{nearest(form, get_args(Form))}")
    name = path.name.removesuffix(".gz")
    for ending, found in NAMES.items():
        if name.endswith(ending) and not path.is_dir():
            return found
    if path.is_dir() or not path.suffix:
        return "projector"
    raise UserError(
        f"{path}: no form has the name *{path.suffix}; allowed: {', '.join(NAMES)}, a folder, or give form="
    )


def save(vectors: WordVectors, path: Path, form: str | None) -> None:
    """Writes the file, whole or not at all."""
    chosen, words, matrix = form_for(path, form), vectors.words, vectors.matrix
    if path.suffix == ".gz" and chosen in ("safetensors", "projector"):
        raise UserError(f"{path}: {chosen} is not packed; give a name without .gz")
    if chosen == "projector" and (other := projector.others_in(path)) is not None:
        names = ", ".join(f"*{ending}" for ending in NAMES)
        raise UserError(f"{path} is a folder with other files ({other}); allowed: a new folder, or a file {names}")
    if chosen == "projector":
        projector.write(path, words, matrix, vectors.counts)
    elif chosen == "safetensors":
        write_tensors(path, words, matrix, vectors.counts, vectors.spelling)
    elif chosen == "word2vec-binary":
        binary_file.write(path, words, matrix)
    else:
        text_file.write(path, words, matrix, header=chosen == "word2vec")
