"""What readers of files advise, in the words of who reads one for a run that is trained: by options, not by settings.

data.columns=[review, stars]    --column review --column stars
data.column=...                 --column ...
data.encoding                   --encoding
data=[train.en,train.de]        --data test.en --data test.de
data.errors, data.format, data.broken    nothing: there is no such option
"""

from __future__ import annotations

import re

OR_REPLACE = ", or take data.errors=replace, which counts what it replaces"
OR_DROP = "; data.broken=drop leaves such rows out and counts them"
OR_CONLLU = ", or set data.format=conllu where the file is CoNLL-U"
NO_OPTION = (
    OR_REPLACE,
    OR_DROP,
    OR_CONLLU,
    ", or take data.errors=replace",
    ", or read it with data.format=text",
    " (data.format says which)",
    "; of talk, data.format=play or lines",
    "; for a file where each line answers the one before: data.format=lines",
)


def as_options(line: str) -> str:
    """The same line, with the options of a command in place of the settings of a recipe."""
    for setting in NO_OPTION:
        line = line.replace(setting, "")
    line = line.replace("data=[train.en,train.de]", "--data test.en --data test.de")
    line = line.replace("data.encoding", "--encoding")
    line = re.sub(r"data\.columns=\[([^\]]*)\]", lambda found: _each(found[1]), line)
    return re.sub(r"data\.column\b=?", "--column ", line).rstrip()


def _each(names: str) -> str:
    return " ".join(f"--column {name.strip().strip(chr(39))}" for name in names.split(","))
