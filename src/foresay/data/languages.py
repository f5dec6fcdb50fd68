"""Words of eight languages -> which language it is, from the dictionaries of the package `simplemma`.

    "fjarlægðir hestarnir"  -> is

A text is two to four words that its language alone has, drawn by the seed. No word of valid or test stands in train:
what is learnt is how a language spells.
"""

from __future__ import annotations

import functools
import random
from collections import Counter

from foresay.extras import need

LANGUAGES = ("en", "fr", "id", "is", "it", "lv", "ro", "sq")
TEXTS = {"train": 1_500, "valid": 100, "test": 200}  # of each language
WORDS = 6_000  # of each language that texts are made of
LEAST = 3  # letters of a word


@functools.lru_cache(maxsize=2)
def languages(seed: int) -> dict[str, list[tuple[str, str]]]:
    """Train, valid and test of a seed: (text, language)."""
    library = need("simplemma.strategies.dictionaries.dictionary_factory", "words", "builtin:languages")
    factory = library.DefaultDictionaryFactory()
    draw = random.Random(f"languages {seed}")
    chosen = {code: _words(factory.get_dictionary(code), draw) for code in LANGUAGES}
    met = Counter(word for words in chosen.values() for word in words)
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in TEXTS}
    for code, words in chosen.items():
        own = [word for word in words if met[word] == 1]
        first = 0
        for name, count in TEXTS.items():
            last = first + len(own) * count // sum(TEXTS.values())
            for _ in range(count):
                found[name].append((" ".join(draw.sample(own[first:last], draw.randint(2, 4))), code))
            first = last
    for texts in found.values():
        draw.shuffle(texts)
    return found


def _words(dictionary: dict[str, str], draw: random.Random) -> list[str]:
    """Some words of a language in small letters, in a drawn order."""
    return draw.sample([word for word in dictionary if len(word) >= LEAST and word.isalpha() and word.islower()], WORDS)
