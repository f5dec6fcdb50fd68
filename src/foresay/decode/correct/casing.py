"""The case of a correction, where the language model knows small letters only: that of what was observed.

TEH -> THE, Teh -> The, teh -> the; a letter put in is large between large ones (TH CAT -> THE CAT), and after two.
"""

from __future__ import annotations


def cased(after: str, text: str, begin: int, end: int) -> str:
    """`after`, which takes the place of text[begin:end], in its case."""
    letters = [letter for letter in text[begin:end] if letter.isalpha()]
    if not letters:
        before, following = text[max(begin - 2, 0) : begin], text[end : end + 1]
        between = before[-1:].isupper() and following.isupper()
        large = between or (len(before) == 2 and all(map(str.isupper, before)))
        return after.upper() if large else after
    if len(letters) > 1 and all(map(str.isupper, letters)):
        return after.upper()
    return after[:1].upper() + after[1:] if letters[0].isupper() else after
