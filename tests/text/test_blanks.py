"""Words between blanks, by value."""

from foresay.text.blanks import Blanks
from foresay.text.normalise import Normalise
from foresay.text.tokens import UNK


def test_splits_at_white_space_only():
    tokens = Blanks()
    tokens.learn(["do n't  stop .\nN <unk> U.S. <stop>"])
    ids = tokens.encode("do n't stop .\n<unk> U.S. <stop>")
    assert tokens.pieces(ids) == ["do", "n't", "stop", ".", "<unk>", "U.S.", "<", "stop>"]
    assert ids[4] == UNK
    assert tokens.decode(ids) == "do n't stop . <unk> U.S. < stop>"


def test_lowercase_joins_counts():
    tokens = Blanks(size=6, normalise=Normalise(lowercase=True))
    tokens.learn(["The the dog dog THE"])
    assert tokens.pieces(tokens.encode("tHe dog")) == ["the", "<unk>"]
