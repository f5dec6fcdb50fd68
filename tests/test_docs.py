"""The documentation's examples run: every `sh` line that calls foresay or curl, every `python` block, page by page.

`foresay serve RUN &` is a server for the rest of its page, on a free port in place of 8000.

A block that opens with `# mycells.py` is that file, or a further piece of it. Training is cut to a few steps;
everything else runs as it is written.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from foresay import cli, parts, recipe, samples, start
from foresay.study import rate
from tests.forks import Forks

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
BLOCK = re.compile(r"^```(sh|python|yaml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\w+\.(?:py|yaml))\n")
SHORT = ["train.steps=3", "train.evaluate.tokens=300"]


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text("utf-8"))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every training takes three steps and draws little; parts that a page adds go when it ends."""
    for kind in parts.HOMES:
        parts.names(kind)
    monkeypatch.setattr(parts, "_register", {kind: dict(found) for kind, found in parts._register.items()})
    whole = start.train

    def train(source=None, settings=(), *, minutes=None, **rest):
        return whole(source, [*start.words_of(settings), *SHORT], **rest)

    monkeypatch.setattr(start, "train", train)
    monkeypatch.setattr(rate, "STEPS", 12)
    monkeypatch.setattr(samples, "LONGEST", 100)


@pytest.fixture
def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return str(found.getsockname()[1])


@pytest.fixture
def serve(forks: Forks, free_port: str) -> Iterator[Callable[[list[str]], None]]:
    """Starts a server, which answers when this returns and ends, as it should, with the test."""
    servers = []

    def started(words: list[str]) -> None:
        servers.append(forks.start([*words, "--port", free_port]))
        assert free_port in servers[-1].line()

    yield started
    for server in servers:
        server.signal(signal.SIGTERM)
        assert server.wait() == 0


def run_line(line: str, monkeypatch: pytest.MonkeyPatch, serve: Callable[[list[str]], None]) -> None:
    """One shell line: `foresay ...`, text piped into it, a server in the background, or a question to it."""
    before, _, command = line.rpartition("|")
    words = shlex.split(command, comments=True)
    if words and words[0] == "curl" and shutil.which("curl"):
        subprocess.run([*words, "--fail-with-body", "--silent"], check=True, stdout=subprocess.DEVNULL)
    if not words or words[0] != "foresay" or "RECIPE|TEXT" in command:
        return
    if words[-1] == "&":
        serve(words[:-1])
        return
    if before:
        words_before = shlex.split(before)
        text = Path(words_before[1]).read_text("utf-8") if words_before[0] == "cat" else words_before[1]
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{text}\n".encode()), "utf-8"))
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0, line


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(
    page: Path,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    free_port: str,
    serve: Callable[[list[str]], None],
) -> None:
    found = blocks(page)
    if not found:
        return
    text = corpus.read_text("utf-8")
    for name in ("my.txt", "other.txt", "sentences.txt"):
        (tmp_path / name).write_text(text if name != "sentences.txt" else text[:300], "utf-8")
    if any("runs/my" in body for _, body in found) and "foresay train my.txt" not in page.read_text("utf-8"):
        start.train("my.txt", out="runs/my", device="cpu")
    scope: dict = {}
    monkeypatch.syspath_prepend(tmp_path)
    for kind, given in found:
        body = given.replace(":8000/", f":{free_port}/")
        if named := FILE.match(body):
            with (tmp_path / named[1]).open("a") as file:
                file.write(body)
        elif kind == "sh":
            for line in body.strip().split("\n"):
                run_line(line, monkeypatch, serve)
        elif kind == "python":
            exec(compile(body, str(page), "exec"), scope)
        else:
            recipe.complete(recipe.read(yaml.safe_load(body)))


def test_pages_link_to_files_that_exist() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links to them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", head.lower()).strip()) for head in heads}


def test_pages_link_to_headings_that_exist() -> None:
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", page.read_text("utf-8")):
            other = page.parent / target if target else page
            assert anchor in anchors(other), f"{page.name} links to {target}#{anchor}"


def test_nothing_is_left_to_fill_in() -> None:
    for page in PAGES:
        assert not re.search(r"\b(RESULTS|TODO|PLACEHOLDER|[A-Z]+_HERE|[A-Z]+_LINE)\b", page.read_text("utf-8")), (
            page.name
        )
        assert len(page.read_text("utf-8")) > 200, f"{page.name} is empty"
