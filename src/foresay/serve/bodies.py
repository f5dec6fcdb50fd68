"""What requests may say: names, types, bounds and defaults, those of /v1/completions as OpenAI has them.

What OpenAI knows and Foresay does not is allowed where it says nothing (`suffix: null`, `presence_penalty: 0`).
JSON can hold half a character: `"\\ud800"`, the first of the two numbers that UTF-16 writes one character with. No text
is made of those, and no answer could be sent that holds one: such a body is refused, wherever it stands.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

Text = str  # as long as a body may be
Texts = Annotated[list[Text], Field(min_length=1, max_length=256)]
Seed = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Share = Annotated[float, Field(ge=0, le=1)]
Mass = Annotated[float, Field(gt=0, le=1)]
Temperature = Annotated[float, Field(ge=0, le=100)]
Figure = Annotated[float, Field(ge=-1e30, le=1e30)]  # what numbers of 32 bits hold
Step = Figure | Annotated[list[Figure | None], Field(min_length=1)] | None
Name = Annotated[str, Field(description="One of /v1/models.")]
MOST = 20  # alternatives that are told of each token
TEXTS = "text, or a list of 1 to 256 texts"  # so a field is described, and so is told what is allowed of it
STEPS = "a list of steps, each a number or a list of numbers, one for each column; null is not known"
PAIRS = "text, or a list of 1 to 256 texts or pairs [source, target]"


class Body(BaseModel):
    """Unknown names are refused, and a number in quotes is no number."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    model: Name

    @field_validator("*", mode="before")
    @classmethod
    def of_whole_characters(cls, value: Any) -> Any:
        """Refuses half a character in any string of a field."""
        if (half := half_of(value)) is not None:
            raise PydanticCustomError("half_character", "{code}", {"code": f"U+{ord(half):04X}"})
        return value


def half_of(value: Any) -> str | None:
    """The first half character in a value of JSON, its lists and its objects, names too; None without one."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            try:
                one.encode()
            except UnicodeEncodeError as error:
                return one[error.start]
        elif isinstance(one, dict):
            left += [*reversed(one.values()), *reversed(one)]
        elif isinstance(one, list):
            left += reversed(one)
    return None


class StreamOptions(BaseModel):
    """What a stream says besides."""

    model_config = ConfigDict(extra="forbid", strict=True)

    include_usage: bool | None = None
    include_obfuscation: bool | None = None  # of no use here: nothing is added


class CompletionBody(Body):
    """Texts that go on from a prompt, or of a run that writes from a source, are written from it."""

    prompt: Text | Texts = Field(default="", description=TEXTS)
    max_tokens: Annotated[int, Field(ge=0)] | None = Field(default=16, description="0 only with echo.")
    temperature: Temperature | None = Field(default=1.0, description="0 is greedy.")
    top_p: Mass | None = 1.0
    n: Annotated[int, Field(ge=1)] | None = 1
    seed: Seed | None = Field(default=None, description="The same seed, the same text; without one it is drawn.")
    stop: Text | Annotated[list[Text], Field(max_length=16)] | None = Field(
        default=None, description="text, or a list of 16 texts at most"
    )
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    logprobs: Annotated[int, Field(ge=0, le=MOST)] | None = Field(default=None, description="So many alternatives.")
    echo: bool | None = False
    user: str | None = None
    # OpenAI's without meaning here
    best_of: Annotated[int, Field(ge=1)] | None = Field(default=None, description="n, or left out.")
    suffix: None = None
    logit_bias: Annotated[dict[str, Any], Field(max_length=0)] | None = None
    presence_penalty: Annotated[float, Field(ge=0, le=0)] | None = 0.0
    frequency_penalty: Annotated[float, Field(ge=0, le=0)] | None = 0.0
    # Foresay's own, in `extra_body` of OpenAI's client
    top_k: Annotated[int, Field(ge=0)] = 0
    min_p: Share = 0.0
    typical: Mass = 1.0
    repetition: Annotated[float, Field(gt=0)] = 1.0
    label: str | None = Field(default=None, description="Of a run that writes for labels.")


class ScoreBody(Body):
    """-log P of texts; of a run that writes from a source, of pairs."""

    input: Text | Annotated[list[Text | Annotated[list[Text], Field(min_length=2, max_length=2)]], Field(
        min_length=1, max_length=256)] = Field(description=PAIRS)  # fmt: skip
    label: str | None = None


class PredictBody(Body):
    """The tags of the words of texts, or the labels of texts."""

    input: Text | Texts = Field(description=TEXTS)


class CorrectBody(Body):
    """What was meant by texts."""

    input: Text | Texts = Field(description=TEXTS)
    number: Annotated[int, Field(ge=1, le=32)] = Field(default=1, description="So many readings of each.")
    seed: Seed = 1


class TranslateBody(Body):
    """Targets of sources, by beam search."""

    input: Text | Texts = Field(description=TEXTS)
    length: Annotated[int, Field(ge=1)] | None = Field(default=None, description="Tokens; by default by the source.")
    beam: Annotated[int, Field(ge=1, le=64)] = 5
    alpha: Annotated[float, Field(ge=0, le=10)] = 1.0


class NearBody(Body):
    """The nearest words of words, by cosine."""

    input: Text | Texts = Field(description=TEXTS)
    number: Annotated[int, Field(ge=1, le=1000)] = 10


class AnalogyBody(Body):
    """a is to b as c is to ?"""

    a: Text
    b: Text
    c: Text
    number: Annotated[int, Field(ge=1, le=1000)] = 5
    method: Literal["add", "multiply"] = "add"


class EmbeddingsBody(Body):
    """A vector of each text, as OpenAI has them: the mean over its tokens."""

    input: Text | Texts = Field(description=TEXTS)
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: None = None
    user: str | None = None


class DrawBody(Body):
    """New pictures, sounds or series."""

    number: Annotated[int, Field(ge=1)] = 1
    label: str | None = Field(default=None, description="What of, where the run was trained for labels.")
    temperature: Temperature = 1.0
    seed: Seed | None = Field(default=None, description="The same seed, the same pictures; without one it is drawn.")
    seconds: Annotated[float, Field(gt=0)] | None = Field(default=None, description="Of sounds: the longest.")
    steps: Annotated[int, Field(ge=1)] | None = Field(default=None, description="Of series: how many; by default 64.")


class ForecastBody(Body):
    """How a series goes on."""

    input: Annotated[list[Step], Field(min_length=1)] = Field(description=STEPS)
    steps: Annotated[int, Field(ge=1)] | None = Field(default=None, description="By default the run's horizon.")
    paths: Annotated[int, Field(ge=10, le=1000)] = 200
    quantiles: Annotated[list[Annotated[float, Field(gt=0, lt=1)]], Field(max_length=9)] = [0.1, 0.5, 0.9]
    temperature: Temperature = 1.0
    seed: Seed = 1


class ErrorSaid(BaseModel):
    """What is wrong, in one line."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorBody(BaseModel):
    """How every fault is told."""

    error: ErrorSaid


FAULTS: dict[int | str, Any] = {
    status: {"description": why, "model": ErrorBody}
    for status, why in {
        400: "The request cannot be answered: given, allowed, remedy.",
        401: "The key is missing or another one.",
        404: "There is no run of this name.",
        413: "The body is too large.",
        429: "Too many wait.",
        500: "The run failed.",
        503: "The server is closing.",
    }.items()
}
