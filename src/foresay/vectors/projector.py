"""Vectors for the Embedding Projector, TensorBoard's and the one at projector.tensorflow.org; written only.

FOLDER/  vectors.tsv  metadata.tsv (words, and counts where known)  projector_config.json  projector_config.pbtxt
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from foresay.errors import UserError
from foresay.vectors.opening import written

# What `tensorboard --logdir FOLDER` reads; the projector on its own takes the JSON.
PLUGIN = 'embeddings {\n  tensor_name: "words"\n  tensor_path: "vectors.tsv"\n  metadata_path: "metadata.tsv"\n}\n'


FILES = ("vectors.tsv", "metadata.tsv", "projector_config.json", "projector_config.pbtxt")


def others_in(folder: Path) -> str | None:
    """A file of a folder that is none of the projector's; None where it is, or may become one."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if any(name in FILES for name in names):
        return None
    return min(names, key=lambda name: (name.startswith("."), name), default=None)


def write(folder: Path, words: list[str], matrix: np.ndarray, counts: np.ndarray | None) -> None:
    """Writes the four files; what says where the others are comes last."""
    strange = next((word for word in words if set(word) & set("\t\r\n")), None)
    if strange is not None:
        raise UserError(
            f"the projector cannot hold the word {strange!r}, which has a tab or a line's end; leave it out"
        )
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; the projector needs a folder: give another place")
    folder.mkdir(parents=True, exist_ok=True)
    form = "\t".join(["%.9g"] * matrix.shape[1]) + "\n"
    with written(folder / "vectors.tsv") as file:
        file.writelines((form % tuple(row.tolist())).encode() for row in matrix)
    with written(folder / "metadata.tsv") as file:  # one column has no heading, two have
        lines = words if counts is None else ["word\tcount", *map("{}\t{}".format, words, counts.tolist())]
        file.writelines(f"{line}\n".encode() for line in lines)
    about = {"tensorName": "words", "tensorShape": matrix.shape, "tensorPath": "vectors.tsv"}
    config = {"embeddings": [about | {"metadataPath": "metadata.tsv"}]}
    with written(folder / "projector_config.json") as file:
        file.write(json.dumps(config, indent=1).encode())
    with written(folder / "projector_config.pbtxt") as file:
        file.write(PLUGIN.encode())
