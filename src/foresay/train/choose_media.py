"""No settings needed for pictures and sounds either: looks at some of them and writes a recipe, with reasons.

Pictures are drawn by a Gated PixelCNN, sounds by WaveNet; for their labels, where they have any.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from foresay.data.image_files import ImageText
from foresay.data.images import Images
from foresay.data.sounds import Sounds

LOOK = 256  # pictures or recordings that are looked at, evenly spread
LEVELS = (2, 3, 4, 8, 16, 17, 32, 64, 128, 256)  # how many a picture may have; the first that loses nothing
ROOM = 4096  # levels of a picture: drawing takes a step for each
SECONDS = 2.0  # of a piece of a longer recording
RATES = {"cpu": 8_000, "cuda": 16_000}  # Hz, at most
DILATIONS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
Choice = tuple[dict[str, Any], dict[str, str]]  # a raw recipe, and why: the path of a setting -> the reason


def choose_media(data: Images | Sounds, raw: dict[str, Any], device: str) -> Choice:
    """A recipe for pictures or sounds; `raw` is what the recipe says of them so far."""
    if isinstance(data, Images):
        found, reasons = _for_images(data, device)
    else:
        found, reasons = _for_sounds(data, device)
    read = found.pop("read")
    given = {**raw, "read": {**read, **raw.get("read", {})}}
    if "condition" in found:
        reasons["condition"] = f"it draws for labels: there are {found.pop('labels')} in what was looked at"
    return {"task": "language-model", "data": given, "output": {"kind": "softmax", "tied": False}, **found}, reasons


def _for_images(data: Images, device: str) -> Choice:
    shapes, values, labels = _look_at_images(replace(data.find(1)["train"], most=LOOK))
    (rows, columns, channels), alike = shapes[0], len(set(shapes)) == 1
    reasons, read = {}, {}
    if len({shape[2] for shape in shapes}) > 1:
        read["colour"], channels, reasons["data.read.colour"] = "rgb", 3, "all in colour: some are"
        alike = len({shape[:2] for shape in shapes}) == 1
    if data.read.size is not None:
        rows, columns = data.read.size
    elif not alike or rows * columns * channels > ROOM:
        shrunk = min(math.sqrt(ROOM / (rows * columns * channels)), 1.0)
        rows, columns = max(int(rows * shrunk), 1), max(int(columns * shrunk), 1)
        read["size"] = [rows, columns]
        why = "drawing takes a step for each level" if alike else "they are of several sizes"
        reasons["data.read.size"] = f"pictures made {rows} x {columns}: {why}"
    number = 256 if "size" in read else next((n for n in LEVELS if _keeps(values, n)), 256)
    reasons["tokens"] = f"{number} levels" + (
        f": no value of {len(shapes)} pictures looked at is lost" if number < 256 else ""
    )
    size, layers = (96, 10) if device == "cuda" else (32, 6)
    many = min(max(ROOM // (rows * columns * channels), 8), 64)
    first = 5 if min(rows, columns) < 16 else 7
    reasons["encoder"] = f"a Gated PixelCNN of {layers} layers, {size} wide"
    train = _train({"kind": "images", "rows": 64 if device == "cuda" else many}, 0.004, device)
    encoder = {"kind": "masked", "size": size, "layers": layers, "first": first, "dropout": 0.1}
    found = {"read": read, "tokens": {"kind": "levels", "number": number}, "encoder": encoder, "train": train}
    return found | {"embedding": {"kind": "lookup", "size": 16}} | _told(labels), reasons


def _look_at_images(text: ImageText) -> tuple[list[tuple[int, int, int]], np.ndarray, set[str]]:
    """Of some pictures their sizes, the values they have, and their labels."""
    shapes, values, labels = [], np.zeros(256, bool), set()
    for _, image, label in text.read():
        channels = 1 if image.ndim == 2 or text.colour == "grey" else image.shape[2]
        shapes.append((image.shape[0], image.shape[1], channels))
        values[np.unique(image)] = True
        labels.update(label)
    return shapes, np.flatnonzero(values), labels


def _keeps(values: np.ndarray, number: int) -> bool:
    """Whether values of 0 .. 255 come back from so many levels as they were."""
    return np.array_equal(np.rint((values * number // 256) * (255 / (number - 1))), values)


def _for_sounds(data: Sounds, device: str) -> Choice:
    if data.read.seconds is None:
        data.read = type(data.read)(**{**vars(data.read), "seconds": SECONDS})
    text = replace(data.find(1)["train"], most=LOOK)
    lengths, labels = [], set()
    for _, samples, label in text.named():
        lengths.append(len(samples))
        labels.update(label)
    rate, most, reasons, read = text.found, RATES.get(device, RATES["cpu"]), {}, {}
    if data.read.rate is None and rate > most:
        read["rate"], reasons["data.read.rate"] = most, f"{most:,} Hz of {rate:,}: each sample is a step"
    if max(lengths) >= round(SECONDS * rate) and data.read.seconds == SECONDS:
        read["seconds"], reasons["data.read.seconds"] = SECONDS, f"pieces of {SECONDS:g} s of longer recordings"
    longest = math.ceil(max(lengths) * min(read.get("rate", rate) / rate, 1.0)) + 1
    size, skip, repeat = (128, 256, 2) if device == "cuda" else (32, 64, 1)
    seen = repeat * (2 * DILATIONS[-1] - 1) + 1
    reasons["encoder"] = (
        f"a WaveNet of {repeat * len(DILATIONS)} layers, {size} wide, that sees {seen:,} samples back: "
        f"{seen / read.get('rate', rate):.2g} s"
    )
    batches = {"kind": "buckets", "tokens": max(65536 if device == "cuda" else 8192, longest), "longest": longest}
    encoder = {"kind": "dilated", "size": size, "dilations": DILATIONS, "repeat": repeat, "skip": skip}
    found = {"read": read, "tokens": {"kind": "levels", "number": 256}, "encoder": encoder}
    found |= {"embedding": {"kind": "lookup", "size": size}, "train": _train(batches, 0.006, device)}
    return found | _told(labels), reasons


def _told(labels: set[str]) -> dict[str, Any]:
    """The width of the vector of a label, where there are several."""
    return {"condition": 16, "labels": len(labels)} if len(labels) > 1 else {}


def _train(batches: dict[str, Any], lr: float, device: str) -> dict[str, Any]:
    schedule = {"kind": "cosine", "warmup": 50, "floor": 0.02}
    return {
        "batches": batches,
        "optimizer": {"kind": "adamw", "lr": lr, "schedule": schedule},
        "clip": 1.0,
        "precision": "bfloat16" if device == "cuda" else "float32",
    }
