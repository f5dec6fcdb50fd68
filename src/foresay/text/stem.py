"""Words -> their stems or lemmas: running -> run, apples -> apple, has -> have.

`snowball` cuts endings by rule (Porter's stemmers): fast, for 34 languages, and what is left need not be a word
(happiness -> happi). `lemmas` looks the dictionary form up: has -> have, better -> good. Both take one word at a time,
without its sentence. They know words in lower case best: set normalise.lowercase.
"""

from __future__ import annotations

import functools
import pkgutil
import re
import threading
from collections.abc import Iterable
from typing import Any

from foresay.errors import UserError, nearest
from foresay.extras import need
from foresay.parts import part
from foresay.text.tokens import SPECIALS, UNK

REMEMBERED = 2**16  # words
# snowballstemmer names a language in English, simplemma by its code.
_CODES = (
    "arabic ar, armenian hy, basque eu, catalan ca, czech cs, danish da, dutch nl, english en, esperanto eo, "
    "estonian et, finnish fi, french fr, german de, greek el, hindi hi, hungarian hu, indonesian id, irish ga, "
    "italian it, lithuanian lt, nepali ne, norwegian nb, persian fa, polish pl, portuguese pt, romanian ro, "
    "russian ru, serbian hbs, sesotho st, spanish es, swedish sv, tamil ta, turkish tr, yiddish yi"
)
_OTHER_NAME: dict[str, str] = {"no": "norwegian", "sr": "serbian"}
for _name, _code in map(str.split, _CODES.split(", ")):
    _OTHER_NAME |= {_name: _code, _code: _name}
_LETTER = re.compile(r"[^\W\d_]")


class Stem:
    """`stem(word)`, remembered for the words met last; a part gives `library`, `extra` and `_stem`."""

    part_kind = "stem"
    library: str
    extra = "words"

    def __init__(self) -> None:
        self.lock = threading.Lock()  # the libraries' stemmers are no functions: they work on themselves
        self._remembered = functools.lru_cache(REMEMBERED)(self._checked)

    def __call__(self, word: str) -> str:
        return self._remembered(word)

    def _checked(self, word: str) -> str:
        """The stem, in lower case if the word is; without a letter, or a single word for a stem, the word stays."""
        if word == SPECIALS[UNK] or not _LETTER.search(word):
            return word
        with self.lock:
            stem = self._stem(word)
        stem = stem.lower() if word.islower() else stem  # simplemma: york -> York
        return stem if len(stem.split()) == 1 else word

    def _stem(self, word: str) -> str:
        raise AssertionError


@part("stem", "snowball")
class Snowball(Stem):
    """Endings cut off by the rules of a language (library snowballstemmer)."""

    library = "snowballstemmer"

    def __init__(self, language: str = "english"):
        super().__init__()
        package = need("snowballstemmer", self.extra, "stem snowball")
        modules = (module.name for module in pkgutil.iter_modules(package.__path__))
        _check("snowball", language, [m.removesuffix("_stemmer") for m in modules if m.endswith("_stemmer")])
        # By its module: where PyStemmer is installed too, the package hands that one's stemmers out instead.
        module = need(f"snowballstemmer.{language}_stemmer", self.extra, "stem snowball")
        name = "".join(word.title() for word in language.split("_")) + "Stemmer"
        self.stemmer = getattr(module, name)()

    def _stem(self, word: str) -> str:
        return self.stemmer.stemWord(word)


@part("stem", "lemmas")
class Lemmas(Stem):
    """The dictionary form of each word (library simplemma); a language is its code, as en."""

    library = "simplemma"

    def __init__(self, language: str = "en"):
        super().__init__()
        library: Any = need("simplemma", self.extra, "stem lemmas")
        known = need("simplemma.strategies.dictionaries.dictionary_factory", self.extra, "stem lemmas")
        _check("lemmas", language, known.SUPPORTED_LANGUAGES)
        self.lemmatise, self.language = library.Lemmatizer(cache_max_size=0).lemmatize, language

    def _stem(self, word: str) -> str:
        return self.lemmatise(word, self.language)


def _check(name: str, language: str, known: Iterable[str]) -> None:
    allowed = sorted(known)
    if language not in allowed:
        other = _OTHER_NAME.get(language.lower())
        meant = f"; did you mean '{other}'?" if other in allowed else nearest(language, allowed)
        raise UserError(f"stem {name}: language={language!r}; allowed: {', '.join(allowed)}{meant}")
