"""Shards of recordings: what stands in them, batches of them, figures of train, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import parts
from foresay.data.frame_shards import KeywordShards, SpeechShards
from foresay.data.label_batches import LabelBatches
from foresay.data.mel import Reading
from foresay.data.prepare import open_prepared, prepare
from foresay.data.speech import Keywords, Speech
from foresay.data.wav import wav_bytes
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS
from tests.data.test_speech import laid, sound

TEXTS = {"a.wav": "up down", "b.wav": "up up up", "c.wav": "", "d.wav": "left"}


def shards_of(folder: Path, data: Any = None, tokens: str = "blanks") -> Any:
    data = data or Speech(laid(folder / "in", TEXTS), share=0.0)
    return prepare(data, parts.make("tokens", tokens), 1)


def test_shards_hold_frames_and_texts(tmp_path: Path) -> None:
    data = Speech(laid(tmp_path / "in", TEXTS), share=0.0)
    prepared = shards_of(tmp_path, data)
    shards, rows = prepared.train, list(data.find(1)["train"])
    assert (
        isinstance(shards, SpeechShards) and shards.documents == 4 and len(shards) == sum(len(r.frames) for r in rows)
    )
    assert shards.symbols.tolist() == [2, 3, 0, 1]
    frames, mask = shards.frames_of(np.array([2, 0]), 11)
    assert mask is not None and mask.sum(1).tolist() == [len(rows[2].frames), len(rows[0].frames)]
    assert np.array_equal(frames[1, : len(rows[0].frames)].numpy(), rows[0].frames) and (frames[0, 10:] == 0).all()
    assert prepared.tokens.decode(shards.texts_of(np.array([1]))[0].tolist()) == "up up up"
    every = np.concatenate([row.frames for row in rows])
    assert shards.form.means == pytest.approx(every.mean(0).tolist(), rel=1e-4)
    assert shards.form.deviations == pytest.approx(every.std(0).tolist(), rel=1e-3) and shards.form.rate == 8_000
    again = open_prepared(prepared.folder).train
    assert isinstance(again, SpeechShards) and np.array_equal(again.frames, shards.frames)


def test_keywords_have_labels(tmp_path: Path) -> None:
    place = laid(tmp_path / "in", TEXTS)
    prepared = shards_of(tmp_path, Keywords(place, "up", share=0.0), "numbers")
    shards = prepared.train
    assert isinstance(shards, KeywordShards) and shards.labels.names == ("no", "yes")
    assert shards.labels_of(np.arange(4)).tolist() == [1, 1, 0, 0] and len(prepared.tokens) == len(SPECIALS)
    (batch,) = LabelBatches(tokens=1000, longest=7).evaluation(shards)
    assert batch.ids is None and batch.labels.tolist() == [1, 1, 0, 0]
    assert batch.frames.shape == (4, 7, 40) and LabelBatches(longest=7).too_long(shards) == 4
    other = shards_of(tmp_path, Keywords(place, "down", share=0.0), "numbers")
    assert other.folder != prepared.folder and other.train.labels_of(np.arange(4)).tolist() == [1, 0, 0, 0]


def test_a_share_is_held_out(tmp_path: Path) -> None:
    texts = {f"{number}.wav": "up" if number % 2 else "down" for number in range(30)}
    prepared = shards_of(tmp_path, Speech(laid(tmp_path / "in", texts), share=0.3))
    assert prepared.valid is not None and 3 <= prepared.valid.documents <= 15
    assert prepared.train.documents + prepared.valid.documents == 30
    assert prepared.train.form == prepared.valid.form


def test_other_recordings_keep_the_form_of_a_model(tmp_path: Path) -> None:
    form = shards_of(tmp_path).train.form
    place = tmp_path / "more"
    place.mkdir()
    (place / "x.wav").write_bytes(wav_bytes(sound(3, 1600), 16_000))
    (place / "labels.csv").write_text("file,text\nx.wav,up\n")
    shards = shards_of(tmp_path, Speech("unused").another(str(place), form)).train
    assert shards.form == form and len(shards) == 1 + -(-(800 - 200) // 80)  # at 8,000 Hz


@pytest.mark.parametrize(
    ("texts", "how", "tokens", "why"),
    [
        ({"a.wav": "up " * 20}, {}, "blanks", r"a\.wav has 10 frames for a text that takes 39 or more \('up up"),
        ({"a.wav": "up"}, {}, "numbers", r"^tokens=numbers with data\.kind=speech; allowed: tokens of texts"),
        ({"a.wav": "up"}, {"hop": 1e-5}, "blanks", r"^data\.hop=1e-05 seconds"),
    ],
)
def test_what_is_refused(tmp_path: Path, texts: Any, how: Any, tokens: str, why: str) -> None:
    data = Speech(laid(tmp_path / "in", texts), share=0.0, read=Reading(**how))
    with pytest.raises(UserError, match=why):
        prepare(data, parts.make("tokens", tokens), 1)


def test_rates_must_be_alike(tmp_path: Path) -> None:
    place = laid(tmp_path / "in", {"a.wav": "up"})
    (tmp_path / "valid.wav").write_bytes(wav_bytes(sound(1), 4_000))
    laid(tmp_path / "other", {"b.wav": "up"})
    (tmp_path / "other" / "b.wav").write_bytes(wav_bytes(sound(1), 4_000))
    with pytest.raises(
        UserError, match=r"other has 4,000 Hz, and data\.train 8,000; make them alike: data\.rate=4000$"
    ):
        shards_of(tmp_path, Speech(place, valid=str(tmp_path / "other")))
    with pytest.raises(UserError, match=r"^tokens=blanks with data\.kind=keywords; allowed: tokens=numbers$"):
        prepare(Keywords(place, "up"), parts.make("tokens", "blanks"), 1)
