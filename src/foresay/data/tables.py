"""Parquet files and saved Hugging Face data sets -> the texts of one column, a few thousand rows at a time.

A data set saved by `datasets` (`save_to_disk`) is a folder with state.json and Arrow files: it is read without that
library. `hub:NAME` asks the library for a data set of the hub, which it keeps in a cache of its own.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from foresay.data.compressed import Damaged, NotText, packing
from foresay.data.records import DEFAULT, Column, checked, no_column
from foresay.errors import UserError, nearest
from foresay.extras import need

_ROWS = 4096
HUB = "hub:"


def parquet(path: Path, column: Column, on_share: Any) -> Iterator[str]:
    """The texts of a Parquet file; `on_share` is told the share of the rows read."""
    library = need("pyarrow.parquet", "files", "a Parquet file")
    arrow = need("pyarrow", "files", "a Parquet file")
    if packing(path):
        raise NotText("is a packed Parquet file; unpack it (Parquet is packed inside already)")
    try:
        with library.ParquetFile(path) as file:
            name = pick(column, file.schema_arrow)
            batches = file.iter_batches(batch_size=_ROWS, columns=[name])
            rows = max(file.metadata.num_rows, 1)
            yield from _texts(batches, lambda done: on_share(done / rows))
    except (arrow.ArrowException, OSError) as error:
        raise Damaged(f"is damaged or no Parquet ({_first(error)}); get it again") from None


def arrow_file(path: Path, column: Column, on_share: Any) -> Iterator[str]:
    """The texts of one Arrow file of a saved data set."""
    arrow = need("pyarrow", "files", "a saved data set")
    try:
        with arrow.memory_map(str(path)) as mapped, arrow.ipc.open_stream(mapped) as file:
            name = pick(column, file.schema)
            batches = (batch.select([name]) for batch in file)
            yield from _texts(batches, lambda _: on_share(mapped.tell() / mapped.size()))
        on_share(1.0)
    except (arrow.ArrowException, OSError) as error:
        raise Damaged(f"is damaged or no Arrow stream ({_first(error)}); get it again") from None


def _texts(batches: Any, on_rows: Callable[[int], None]) -> Iterator[str]:
    done = 0
    for batch in batches:
        for text in batch.column(0).to_pylist():
            done += 1
            if text and not text.isspace():
                yield checked(text, f"row {done}")
        on_rows(done)


def pick(column: Column, schema: Any) -> str:
    """The name of the column that holds the text."""
    names = list(schema.names)
    if isinstance(column, int):
        raise NotText(f"has named columns; allowed: {', '.join(names)}")
    name = column or (names[0] if len(names) == 1 else DEFAULT)
    if name not in names:
        raise NotText(no_column(column, names))
    if not _is_text(schema.field(name).type):
        texts = [field.name for field in schema if _is_text(field.type)]
        kind = schema.field(name).type
        raise NotText(f"column {name!r} holds {kind}, not text; columns with text: {', '.join(texts) or 'none'}")
    return name


def _is_text(kind: Any) -> bool:
    types = need("pyarrow.types", "files", "a table")
    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def saved_files(folder: Path) -> list[Path] | None:
    """The Arrow files of a data set that `datasets` saved in a folder; None when the folder is none."""
    state = folder / "state.json"
    if not (state.is_file() and (folder / "dataset_info.json").is_file()):
        return None
    try:
        names = [one["filename"] for one in json.loads(state.read_text("utf-8"))["_data_files"]]
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{state} is damaged; save the data set again") from None
    return [folder / name for name in names]


def saved_splits(folder: Path) -> list[str] | None:
    """The splits of a saved data set that has several; each is a folder."""
    path = folder / "dataset_dict.json"
    if not path.is_file():
        return None
    try:
        return [str(name) for name in json.loads(path.read_text("utf-8"))["splits"]]
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path} is damaged; save the data set again") from None


def hub_parts(name: str) -> dict[str, str | None]:
    """`hub:NAME[:CONFIG][@SPLIT]` -> the same for train, valid and test, where the data set has them."""
    whole, _, split = name.partition("@")
    if split:
        return {"train": name, "valid": None, "test": None}
    splits = list(_load(whole))
    train = "train" if "train" in splits else splits[0]
    others = {"valid": ("validation", "valid", "dev"), "test": ("test",)}
    found = {part: next((s for s in names if s in splits and s != train), None) for part, names in others.items()}
    return {"train": f"{whole}@{train}"} | {part: f"{whole}@{s}" if s else None for part, s in found.items()}


def hub_rows(name: str) -> Any:
    """The rows of one split of a data set of the hub, from the cache of the library."""
    whole, _, split = name.partition("@")
    found = _load(whole)
    if split not in found:
        raise UserError(f"{whole} has no split {split!r}; allowed: {', '.join(found)}{nearest(split, list(found))}")
    return found[split]


def hub_texts(name: str, column: Column, on_share: Any) -> Iterator[str]:
    """The texts of one split of a data set of the hub."""
    rows = hub_rows(name)
    wanted = pick(column, rows.features.arrow_schema)
    batches = rows.select_columns([wanted]).with_format("arrow").iter(batch_size=_ROWS)
    yield from _texts(batches, lambda done: on_share(done / max(rows.num_rows, 1)))


@functools.lru_cache(maxsize=8)
def _load(whole: str) -> Any:
    name, _, config = whole.removeprefix(HUB).partition(":")
    if not name:
        raise UserError(f"{whole!r} names no data set; allowed: {HUB}NAME[:CONFIG][@SPLIT]")
    library = need("datasets", "hub", whole)
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it tells of each time it tries again
    bars = library.utils.logging.is_progress_bar_enabled()
    try:
        library.utils.logging.disable_progress_bar()
        library.utils.logging.set_verbosity_error()
        return library.load_dataset(name, config or None)
    except Exception as error:  # the library raises what its many ways to fetch raise
        raise UserError(f"{whole} cannot be had: {_first(error)}; check the name and the network") from None
    finally:
        if bars:
            library.utils.logging.enable_progress_bar()


def _first(error: Exception) -> str:
    return (str(error) or type(error).__name__).split("\n")[0].rstrip(".")
