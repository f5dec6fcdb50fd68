"""The page in a browser, light and dark, wide and on a phone: what it shows is what the runs say. Needs Chromium."""

from __future__ import annotations

import base64
import math
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from foresay.data.wav import wav_bytes
from foresay.run import Run
from foresay.serve.served import Shelf

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs chromium")
LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1000, "height": 760}},
    "dark phone": {"color_scheme": "dark", "viewport": {"width": 390, "height": 780}, "has_touch": True},
}
PLAYED = """(one, source) => new Promise((done) => {
  Object.assign(one, { onloadedmetadata: () => done(one.duration), onerror: () => done(null), src: source }); })"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(params=LOOKS)
def page(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Opened on the first run; it must not fail, nor ask for anything elsewhere."""
    wrong: list[str] = []
    found = browser.new_page(**LOOKS[request.param])
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("request", lambda asked: asked.url.startswith((address, "data:")) or wrong.append(asked.url))
    found.goto(address)
    found.wait_for_selector("#main:not([hidden])")
    yield found
    assert found.evaluate("document.documentElement.scrollWidth") <= found.viewport_size["width"]
    found.close()
    assert wrong == []


def done(page: Any, run: str, way: str, **given: str) -> Any:
    """The section of a tab, after its form was filled and sent, and answered."""
    if page.locator("#run").input_value() != run:
        page.select_option("#run", run)
    page.click(f"#tabs [data-way={way}]")
    section = page.locator(f"section[data-way={way}]")
    for name, value in given.items():
        section.locator(f"[name={name}]").fill(value)
    section.locator(".main").click()
    page.wait_for_selector(f"section[data-way={way}] .main:not([disabled])")
    return section


def heat(nats: float) -> float:
    return round(min(nats / 8, 1) * 75, 1)


def heats(section: Any) -> list[float]:
    return section.locator(".token").evaluate_all("all => all.map(one => +one.style.getPropertyValue('--h'))")


def test_it_writes_and_shows_what_else_could_stand_there(page: Any, shelf: Shelf) -> None:
    run = shelf.find("tiny").run
    assert isinstance(run, Run)
    section = done(page, "tiny", "complete", prompt="the cat", max_tokens="12", temperature="1", seed="3")
    text = run.generate("the cat", length=12, seed=3)[0]
    assert section.locator(".out").text_content() == text
    tokens, scored = section.locator(".token"), run.score(text)[0].log_probs[7:]
    assert tokens.all_text_contents() == list(text[7:])
    assert heats(section) == pytest.approx([heat(-one) for one in scored], abs=0.11)
    assert section.locator(".told").text_content().startswith("12 tokens, ")
    third = tokens.nth(2)
    third.hover() if page.viewport_size["width"] > 500 else third.tap()
    card = page.locator("#card")
    assert card.is_visible() and f"{-scored[2]:.2f} nats" in card.text_content()
    log_probs = run.step(text[:9])[0].clone()
    log_probs[[0, 1, 2, 4]] = -math.inf
    best = run.tokens.pieces(log_probs.topk(5).indices.tolist())
    shown = [one.replace(" ", "␣").replace("\n", "⏎") for one in best]
    assert card.locator(".bars > span").all_text_contents()[:5] == shown
    page.keyboard.press("Escape")
    section.locator(".on").click()  # goes on from all that stands there
    page.wait_for_selector("section[data-way=complete] .main:not([disabled])")
    assert section.locator(".out").text_content() == run.generate(text, length=12, seed=3)[0]


def test_a_text_in_colours(page: Any, shelf: Shelf) -> None:
    run = shelf.find("tiny").run
    assert isinstance(run, Run)
    section = done(page, "tiny", "score", input="a cat zzz")
    scored = run.score("a cat zzz")[0]
    assert heats(section) == pytest.approx([heat(-one) for one in scored.log_probs], abs=0.11)
    assert f"{scored.nats:.2f} nats, perplexity {scored.perplexity:.2f}" in section.locator(".told").text_content()


def test_the_other_tabs(page: Any, shelf: Shelf) -> None:
    pairs: Any = shelf.find("pairs").run
    section = done(page, "pairs", "translate", input="abc\nab")
    assert section.locator(".out").text_content() == "\n".join(pairs.translate(["abc", "ab"]))
    section = done(page, "pairs", "complete", prompt="abc", max_tokens="9")
    assert section.locator(".out").text_content() == pairs.generate("abc", length=9)[0]
    section = done(page, "bag", "predict", input="a a")
    assert section.locator("h2").text_content() == "A" and section.locator(".bars .chosen").text_content() == "A"
    section = done(page, "hmm", "predict", input="the cat")
    assert section.locator(".words > span > small:first-of-type").all_text_contents() == ["D", "N"]
    section = done(page, "v.vec", "near", input="man")
    assert section.locator(".bars > span").first.text_content() == "king"
    section = done(page, "v.vec", "analogy", a="man", b="king", c="woman")
    assert section.locator(".bars > span").first.text_content() == "queen"
    section = done(page, "pics", "draw", number="3", seed="4")
    pictures = section.locator(".out img")
    assert pictures.count() == 3 and pictures.evaluate_all("all => all.map(one => one.naturalHeight)") == [4, 4, 4]
    section = done(page, "hums", "draw", number="2", seed="4")
    sounds = section.locator(".out audio")
    assert sounds.count() == 2
    heard = base64.b64encode(wav_bytes(np.zeros(800), 8000)).decode()  # Chromium plays none under 3,000 Hz
    assert sounds.first.evaluate(PLAYED, f"data:audio/wav;base64,{heard}") == pytest.approx(0.1)
    section = done(page, "tides", "draw", number="2", seed="4")
    assert section.locator(".out a").all_text_contents() == ["series 1.csv", "series 2.csv"]
    tides: Any = shelf.find("tides").run
    section = done(page, "tides", "forecast", input="10,0\n,1\n12,1\n", steps="2", paths="20")
    mean = tides.forecast(np.array([[10, 0], [np.nan, 1], [12, 1]]), steps=2, number=20).mean[0]
    shown = section.locator("td:nth-child(3)").all_text_contents()
    assert [float(one) for one in shown] == pytest.approx(mean.reshape(-1).tolist(), rel=1e-5)
    section = done(page, "v.vec", "embed", input="king woman")
    assert section.locator(".out").text_content() == "1.000 -0.5000 0.000"
    section = done(page, "tiny", "correct", input="teh")
    assert "nats" in section.locator(".told").text_content()
    assert page.locator("#fault").is_hidden()


def test_a_mistake_is_told(page: Any) -> None:
    done(page, "v.vec", "near", input="nowhere")
    assert page.locator("#fault").text_content().startswith("the word 'nowhere' has no vector")


def test_a_key_is_asked_for(browser: Any, shelf: Shelf) -> None:
    """The page itself opens; the runs, with the key."""
    import threading

    import uvicorn

    from foresay.serve.api import make_app
    from foresay.serve.server import Server, address_of, opened

    own, ready = opened("127.0.0.1", 0), threading.Event()
    app = make_app(shelf, key="secret")
    server = Server(uvicorn.Config(app, log_level="warning", ws="none"), app.state.engine, ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
    thread.start()
    assert ready.wait(30)
    page = browser.new_page()
    page.goto(address_of(own))
    page.wait_for_selector("#locked:not([hidden])")
    page.fill("#key", "secret")
    page.click("#locked button")
    page.wait_for_selector("#main:not([hidden])")
    assert page.locator("#run").input_value() == "tiny"
    page.close()
    server.should_exit = True
    thread.join()
