"""Code points, and runs of characters taken out."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foresay.text.codes import codes, take_out, text_of


@given(text=st.text(st.characters()))
def test_there_and_back(text):
    assert codes(text).tolist() == [ord(c) for c in text]
    assert text_of(codes(text)) == text


@given(text=st.text(st.sampled_from("ab# \n\u3000中")))
def test_taking_out_is_what_a_pattern_does(text):
    """A run between two characters that are no white space leaves a blank, any other nothing."""
    expected = re.sub(r"#++", "", re.sub(r"(?<=[^\s#])#++(?=\S)", " ", text))
    assert take_out(codes(text), np.array([c == "#" for c in text], bool)) == expected


def test_every_white_space_counts():
    for code in (code for code in range(0x110000) if chr(code).isspace()):
        text = f"a#{chr(code)}#b"
        assert take_out(codes(text), codes(text) == ord("#")) == f"a{chr(code)}b"
