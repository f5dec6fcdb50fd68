"""The command line: parse, call, print. Everything it does is a public function of Python.

No torch is imported for `--help`; a user's mistake is one line on standard error and exit code 2.
"""

# In the order of `foresay --help`.
from foresay.cli import training, using, predicting, writing, drawing, forecasting, correcting, serving  # noqa: I001
from foresay.cli import embedding, senses, looking, joining, words, data, text, vocabulary, checking, claims, listing
from foresay.cli.entry import main

__all__ = [
    "checking",
    "claims",
    "correcting",
    "data",
    "drawing",
    "embedding",
    "forecasting",
    "joining",
    "listing",
    "looking",
    "main",
    "predicting",
    "senses",
    "serving",
    "text",
    "training",
    "using",
    "vocabulary",
    "words",
    "writing",
]
