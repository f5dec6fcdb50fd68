"""What a finished run leaves for people: the card (README.md), the figures (results.json), the curve (curve.png)."""

from __future__ import annotations

import io
import json
import shlex
import warnings
from pathlib import Path
from typing import Any

from foresay import __version__
from foresay.recipe import Recipe
from foresay.train.aside import write_file
from foresay.train.folder import trust_for
from foresay.train.fonts import fit_fonts
from foresay.train.media_card import measured_media, noun_of, use_of_media
from foresay.train.progress import Metrics, without_nan
from foresay.train.series_card import measured_series, use_of_series
from foresay.train.speech_card import measured_speech, use_of_speech
from foresay.yaml12 import dump

WAYS = ("forwards", "backwards")  # of a model that reads both, each by itself
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8e5ea2", "#e8a33d", "#4a4e69", "#00a6a6", "#b5651d")


def write_results(folder: Path, results: dict[str, Any]) -> None:
    """`results.json`: parameters, seconds, tokens, peak memory and what was measured."""
    write_file(folder / "results.json", (json.dumps(without_nan(results), indent=1) + "\n").encode())


def read_results(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "results.json").read_text("utf-8"))


def write_card(folder: Path, recipe: Recipe, results: dict[str, Any]) -> None:
    """The model card: data, settings, results and how to use it."""
    write_file(folder / "README.md", _card(folder, recipe, results).encode())


def _card(folder: Path, recipe: Recipe, results: dict[str, Any]) -> str:
    measured = _measured(recipe, results)
    settings, fitted = recipe.as_dict(), hasattr(recipe.task, "fit")
    if fitted:  # by counting or in epochs of its own: no optimiser, steps and batches
        del settings["train"]
    trust = trust_for(folder)
    curve = "\n![loss against time](curve.png)\n" if "steps" in results or "epochs" in results else ""
    use = _use_of_words(folder) if "epochs" in results else _use(folder, trust, causal=recipe.task.causal)
    use = _use_of_pairs(folder, trust) if recipe.task.conditional else use
    use = _use_of_tags(folder, trust) if recipe.task.reads == "tags" else use
    use = _use_of_labels(folder, trust) if recipe.task.reads == "labels" else use
    use = use_of_series(folder, trust, recipe) if recipe.task.reads == "series" else use
    speech = recipe.data.part_name in ("speech", "keywords")
    use = use_of_speech(folder, trust, recipe) if speech else use
    media = recipe.data.part_name in ("images", "sounds")
    use = use_of_media(folder, trust, recipe) if media and recipe.task.part_name != "word-vectors" else use
    drawn = f"\n![{recipe.data.part_name} that it drew](samples.png)\n" if (folder / "samples.png").exists() else ""
    drawn += "\n![forecasts of held-out steps](forecast.png)\n" if (folder / "forecast.png").exists() else ""
    return f"""---
{dump(_about(recipe, results))}---
# {folder.name}

{_what(recipe.task.part_name)} trained with Foresay {__version__}: {results["parameters"]:,} parameters,
{results["vocabulary"]:,} symbols ({recipe.tokens.part_name}), {results["train_tokens"]:,} training tokens,
{results["seconds"]:.1f} seconds of training on {results["device"]}.

## Results

{measured}{curve}{drawn}
## Use

{use}
## Recipe

Every setting{" that was used" if fitted else ""}, with the defaults filled in.
`foresay train recipe.yaml` repeats the run.

```yaml
{dump(settings)}```
"""


def _about(recipe: Recipe, results: dict[str, Any]) -> dict[str, Any]:
    """What the hub sorts runs by: the library, what it does, what it is made of, what was measured."""
    reads = recipe.task.reads
    shown = {"tags": "token-classification", "labels": "text-classification"}
    usual = {"language-model": "text-generation", "masked-lm": "fill-mask", "seq2seq": "translation"}
    text = recipe.data.part_name not in ("images", "sounds", "captions", "series")
    does = shown.get(reads, usual.get(recipe.task.part_name)) if text else None
    encoder = getattr(recipe.task, "encoder", None)
    made = [recipe.task.part_name, *([] if encoder is None else [encoder.part_name])]
    known = ("perplexity", "accuracy", "f1")
    metrics = [name for name in known if name in (results["valid"] or {})]
    about: dict[str, Any] = {"library_name": "foresay", "tags": ["foresay", *made]}
    return about | ({"pipeline_tag": does} if does else {}) | ({"metrics": metrics} if metrics else {})


def _measured(recipe: Recipe, results: dict[str, Any]) -> str:
    """The table of figures."""
    valid = results["valid"]
    if valid and "accuracy" in valid:
        return _accuracy(valid) if recipe.task.reads == "labels" else _tagged(valid)
    if valid and "error_rate" in valid:
        return measured_speech(valid)
    if valid and "nats_per_step" in valid:
        return measured_series(valid)
    if valid and (noun := noun_of(valid)):
        return measured_media(valid, noun)
    if not valid:
        return _losses(results) if "epochs" in results else "No validation text was held out.\n"
    low, high = valid["perplexity_interval"]
    read = f"{valid['tokens']:,} of {valid['of_tokens']:,} validation tokens"
    pseudo = "pseudo-" if "pseudo" in valid else ""
    ways = "".join(f"| {way} | {valid[f'perplexity_{way}']:.3f} |\n" for way in WAYS if f"perplexity_{way}" in valid)
    return (
        f"| on {read} | |\n|---|---|\n"
        f"| loss, nats per token | {valid['loss']:.4f} |\n"
        f"| {pseudo}perplexity (95 % bootstrap interval) | {valid['perplexity']:.3f} ({low:.3f} – {high:.3f}) |\n"
        f"{ways}| {pseudo}bits per character | {valid['bits_per_character']:.4f} |\n"
        f"| {pseudo}bits per byte | {valid['bits_per_byte']:.4f} |\n"
        f"| tokens that are unknown | {100 * valid['unknown']:.2f} % |\n"
    )


def _what(task: str) -> str:
    named = {"ngram": "An n-gram model", "word-vectors": "Word vectors", "hmm": "A hidden Markov model"}
    named |= {"series": "A model of series", "hmm-lm": "A hidden Markov language model"}
    named |= {"hmm-series": "A hidden Markov model of series"}
    return named.get(task, f"A {task.replace('-', ' ')}")


def quote(folder: Path) -> str:
    """As a shell reads it."""
    return shlex.quote(str(folder))


def _use(folder: Path, trust: str, *, causal: bool) -> str:
    first = f'generate {quote(folder)} "Once upon"' if causal else f'correct {quote(folder)} "Onec upon"'
    return f"""```
foresay {first}{trust}
echo "a sentence" | foresay score {quote(folder)} -{trust}
foresay eval {quote(folder)}{trust}
```

```python
import foresay

run = foresay.load({json.dumps(str(folder))}{", trust=True" if trust else ""})
run.perplexity("a sentence")
```
"""


def _use_of_pairs(folder: Path, trust: str) -> str:
    return f"""```
foresay generate {quote(folder)} "a source"{trust}
foresay eval {quote(folder)}{trust}
foresay look {quote(folder)} --pair "a source"{trust}
```

```python
import foresay

run = foresay.load({json.dumps(str(folder))}{", trust=True" if trust else ""})
run.translate(["a source"])
```
"""


def _use_of_tags(folder: Path, trust: str) -> str:
    return f"""```
foresay predict {quote(folder)} "a sentence"{trust}
foresay eval {quote(folder)}{trust}
```

```python
import foresay

run = foresay.load({json.dumps(str(folder))}{", trust=True" if trust else ""})
run.predict("a sentence")[0].tags
```
"""


def _use_of_labels(folder: Path, trust: str) -> str:
    return f"""```
foresay predict {quote(folder)} "a text"{trust}
foresay eval {quote(folder)}{trust}
```

```python
import foresay

run = foresay.load({json.dumps(str(folder))}{", trust=True" if trust else ""})
run.predict(["a text"])
```
"""


def _tagged(valid: dict[str, Any]) -> str:
    low, high = valid["accuracy_interval"]
    accuracy = f"{100 * valid['accuracy']:.2f} ({100 * low:.2f} – {100 * high:.2f})"
    lines = [
        f"| on {valid['tokens']:,} of {valid['of_tokens']:,} validation words | |",
        "|---|---|",
        f"| loss, nats per word | {valid['loss']:.4f} |",
        f"| accuracy, % (95 % bootstrap interval) | {accuracy} |",
    ]
    if "spans" in valid:
        low, high = valid["spans"]["f1_interval"]
        f1 = f"{100 * valid['spans']['f1']:.2f} ({100 * low:.2f} – {100 * high:.2f})"
        lines.append(f"| F1 of spans, % (95 % bootstrap interval) | {f1} |")
    lines.append(f"| words that are unknown | {100 * valid['unknown']:.2f} % |")
    return "\n".join(lines) + "\n"


def _accuracy(valid: dict[str, Any]) -> str:
    (low, high), (least, most) = valid["accuracy_interval"], valid["macro_f1_interval"]
    return (
        f"| on {valid['texts']:,} validation texts (95 % bootstrap interval) | |\n|---|---|\n"
        f"| accuracy | {100 * valid['accuracy']:.2f} % ({100 * low:.2f} – {100 * high:.2f}) |\n"
        f"| macro-F1 | {100 * valid['macro_f1']:.2f} % ({100 * least:.2f} – {100 * most:.2f}) |\n"
        f"| loss, nats per text | {valid['loss']:.4f} |\n"
        f"| accuracy of the most frequent answer | {100 * valid['most_frequent']:.2f} % |\n"
    )


def _use_of_words(folder: Path) -> str:
    return f"""```
foresay words {quote(folder)} near WORD
foresay words {quote(folder)} analogy man king woman
```

```python
import foresay

vectors = foresay.WordVectors.load({json.dumps(str(folder))})
vectors.near("word")
```
"""


def _losses(results: dict[str, Any]) -> str:
    lines = [f"| {epoch} | {loss:.4f} |" for epoch, loss in enumerate(results["epochs"], 1)]
    lines += [f"| on held-out text | {results['held_out']:.4f} |"] if "held_out" in results else []
    return "| epoch | loss, nats a prediction |\n|---|---|\n" + "\n".join(lines) + "\n"


def write_curve(folder: Path) -> None:
    """`curve.png`: training and validation loss against time."""
    lines = Metrics(folder / "metrics.jsonl").read()
    trained = [(line["seconds"], line["loss"]) for line in lines if line.get("loss") is not None]
    measured = [(line["seconds"], line["valid_loss"]) for line in lines if line.get("valid_loss") is not None]
    if not trained:
        return
    curves = {"training": trained, "validation": measured}
    if measured:
        curves["kept"] = [min(measured, key=lambda point: point[1])]
    of = "text" if any("valid_texts" in line for line in lines) else "token"
    of = "symbol" if any("valid_error_rate" in line for line in lines) else of
    of = "step" if any("valid_nats_per_step" in line for line in lines) else of
    of = next((unit for unit in ("dimension", "sample") if any(f"valid_bits_per_{unit}" in line for line in lines)), of)
    draw_curves(folder / "curve.png", curves, f"loss, nats per {of}", title=folder.name)


def draw_curves(path: Path, curves: dict[str, list[tuple[float, float]]], label: str, title: str) -> None:
    """Named curves of (seconds, value) as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for (name, points), colour in zip(curves.items(), COLOURS * 4, strict=False):
        if points:
            _draw(axes, name, points, colour)
    axes.set_xlabel("seconds of training")
    axes.set_ylabel(label)
    axes.set_title(title, loc="left", parse_math=False)  # $ is no formula in a folder's name
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.margins(x=0.08)
    for text in axes.legend(frameon=False).get_texts():
        text.set_parse_math(False)
    write_picture(path, figure)


def write_picture(path: Path, figure: Any) -> None:
    """A matplotlib figure as a PNG that appears whole or not at all; no screen is needed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    fit_fonts(figure, drawn=False)
    held = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a name in a script that the font does not have
        figure.savefig(held, format="png", dpi=130)
    write_file(path, held.getvalue())


def _draw(axes: Any, name: str, points: list[tuple[float, float]], colour: str) -> None:
    """One curve with its last value in the legend; a single point is a star, a level line is dashed."""
    seconds, values = zip(*points, strict=True)
    level = len(values) == 2 and values[0] == values[1]
    style = {"linestyle": "--"} if level else {"marker": "o" if len(points) < 30 else None, "markersize": 3.5}
    if len(points) == 1:
        style = {"marker": "*", "markersize": 13, "linestyle": "none"}
    axes.plot(seconds, values, color=colour, label=f"{name}  {values[-1]:.3f}", linewidth=1.6, **style)
