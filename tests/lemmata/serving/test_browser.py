"""The live page in Debian's Chromium: typed, clicked, copied, read by keyboard, on a phone and in the dark."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .running import Server

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect
expect.set_options(timeout=60_000)  # a busy machine

CHROMIUM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM)
        yield running
        running.close()


class Opened:
    """A page in a context of its own, and what it asked for and complained of."""

    def __init__(self, browser: Any, server: Server, fragment: str = "", **options: Any) -> None:
        self.address = f"http://{server.host}:{server.port}/"
        self.context = browser.new_context(reduced_motion="reduce", **options)
        self.context.set_default_timeout(60_000)
        self.urls: list[str] = []
        self.complaints: list[str] = []
        self.context.on("request", lambda r: self.urls.append(r.url))
        self.page = self.context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(self.address + fragment)
        expect(self.page.locator("#examples button").first).to_be_visible()

    def _said(self, message: Any) -> None:
        # Chromium itself reports a status that is not 200; that one is an answer here.
        if message.type in ("error", "warning") and "422 (UNPROCESSABLE ENTITY)" not in message.text:
            self.complaints.append(message.text)

    def close(self) -> None:
        self.context.close()
        assert self.complaints == []
        assert self.urls
        # The flow picture is an image of a data: URL; everything else comes from the server itself.
        assert [u for u in self.urls if not u.startswith((self.address, "data:image/svg+xml"))] == []


@pytest.fixture
def opened(browser: Any, server: Server) -> Iterator[Opened]:
    one = Opened(browser, server)
    yield one
    one.close()


def test_a_formula_is_typed_and_proved(opened: Opened) -> None:
    page = opened.page
    page.get_by_label("What is asked").select_option("gradient")
    page.get_by_label("Formula", exact=True).fill("sum(log(1 + exp(x)))")
    page.get_by_label("With respect to").fill("x")
    page.get_by_label("Shapes").fill("x=N")
    page.get_by_label("Given").fill("")
    page.get_by_role("button", name="Derive and prove").click()
    expect(page.locator("#verdict")).to_contain_text("proved for every N")
    expect(page.locator("#title")).to_have_text("Gradient of sum(log(1 + exp(x))) with respect to x")
    assert page.locator("#derivation .katex-mathml math").count() > 3  # what a screen reader reads
    assert page.locator("#derivation .katex-html").count() > 3
    expect(page.locator("#numpy code")).to_contain_text("def gradient(x):")
    expect(page.locator("#status")).to_have_text("proved for every N.")
    assert page.evaluate("document.activeElement.id") == "answer"


def an_equation(page: Any, equation: str, shapes: str) -> None:
    """Fills in what is to be proved."""
    page.get_by_label("What is asked").select_option("prove")
    page.get_by_label("Equation").fill(equation)
    page.get_by_label("Shapes").fill(shapes)
    page.get_by_label("Given").fill("")


def test_a_title_is_as_it_was_typed(opened: Opened) -> None:
    page = opened.page
    an_equation(page, "x**2 * y**2 == (x*y)**2", "x= y=")
    page.get_by_label("Shapes").press("Control+Enter")
    expect(page.locator("#verdict")).to_contain_text("proved")
    expect(page.locator("#title")).to_contain_text("x**2 * y**2 == (x*y)**2")


def test_everything_is_typeset(opened: Opened) -> None:
    """A formula that KaTeX refuses would stand there as its source."""
    page = opened.page
    for button in page.locator("#examples button").all():
        button.click()
        expect(button).to_have_attribute("aria-current", "true")
        expect(page.locator("#answer")).to_have_attribute("aria-busy", "false")
        expect(page.locator("#verdict .banner")).to_be_visible()
        assert page.locator(".scroll.display > div > code").count() == 0, button.inner_text()
        assert "$" not in page.locator("#derivation").inner_text()
    assert page.evaluate("document.fonts.check('1em KaTeX_Main')")


def test_a_formula_that_cannot_be_typeset_stands_as_its_source(opened: Opened) -> None:
    shown = opened.page.evaluate("""async () => {
        const {mathematics} = await import("./page/markdown.js");
        return [mathematics("\\\\frac{1", true), mathematics("\\\\href{javascript:alert(1)}{x}", true),
                mathematics("a^2", true)].map((box) => box.querySelector("a") ? "a link"
                                                     : box.querySelector("code")?.textContent ?? "typeset");
    }""")
    assert shown == ["\\frac{1", "typeset", "typeset"]


def test_a_false_identity_shows_the_counterexample(opened: Opened) -> None:
    page = opened.page
    an_equation(page, "softmax(2*z) == softmax(z)", "z=K")
    page.keyboard.press("Control+Enter")  # the keyboard alone
    page.get_by_label("Given").press("Control+Enter")
    expect(page.locator("#verdict")).to_contain_text("refuted by a counterexample")
    table = page.get_by_role("group", name="Counterexample")
    expect(table).to_contain_text("left")
    expect(table).to_contain_text("K = 2")
    expect(page.get_by_role("heading", name="The claim")).to_be_visible()
    expect(page.locator("#numpy")).to_be_hidden()


def test_an_error_is_marked_at_its_place(opened: Opened) -> None:
    page = opened.page
    formula = page.get_by_label("Formula", exact=True)
    formula.fill("-sum(y*log(softmx(z)))")
    page.get_by_role("button", name="Derive and prove").click()
    expect(page.locator("#formula-error")).to_contain_text("did you mean softmax")
    expect(page.locator("#formula-error mark")).to_have_text("softmx")
    expect(formula).to_have_attribute("aria-invalid", "true")
    expect(formula).to_be_focused()
    chosen = page.evaluate("getSelection().toString() || (e => e.value.slice(e.selectionStart, e.selectionEnd))("
                           "document.activeElement)")
    assert chosen == "softmx"
    assert "formula-error" in formula.get_attribute("aria-describedby")
    expect(page.locator("#answer")).to_be_hidden()
    formula.fill("-sum(y*log(softmax(z)))")
    page.get_by_label("Given").fill("sum(y)=1; sum(q)=1")
    page.get_by_role("button", name="Derive and prove").click()
    expect(page.locator("#given-error mark")).to_have_text("q")
    formula.fill("sum(z) + \U0001f600")  # two units of UTF-16
    page.get_by_role("button", name="Derive and prove").click()
    expect(page.locator("#formula-error mark")).to_have_text("\U0001f600")
    formula.fill("sum(z) +")
    page.get_by_role("button", name="Derive and prove").click()
    expect(page.locator("#formula-error")).to_contain_text("cannot read the formula", ignore_case=True)
    formula.fill("-sum(y*log(softmax(z)))")
    page.get_by_role("button", name="Derive and prove").click()
    expect(page.locator("#given-error mark")).to_have_text("q")
    expect(page.locator("#formula-error")).to_be_empty()
    expect(formula).not_to_have_attribute("aria-invalid", "true")


def test_a_script_in_a_formula_stays_text(opened: Opened) -> None:
    page = opened.page
    text = "<img src=x onerror=document.title=1>"
    page.get_by_label("Formula", exact=True).fill(text)
    page.get_by_role("button", name="Derive and prove").click()
    expect(page.locator("#formula-error .place")).to_have_text(text)
    assert page.locator("#formula-error img").count() == 0
    assert page.title() != "1"


def test_copy_buttons(browser: Any, server: Server) -> None:
    one = Opened(browser, server, permissions=["clipboard-read", "clipboard-write"])
    page = one.page
    page.get_by_role("button", name="Softmax Jacobian").click()
    expect(page.locator("#verdict")).to_contain_text("proved")

    def copied(name: str) -> str:
        button = page.get_by_role("button", name=name)
        box = page.locator(f"button:has-text('{name}')").element_handle()
        button.click()
        page.wait_for_function("(b) => b.textContent === 'Copied'", arg=box)
        return str(page.evaluate("navigator.clipboard.readText()"))

    assert copied("Copy NumPy").startswith("import numpy as np\n\n\ndef jacobian(z):")
    assert copied("Copy LaTeX").startswith("\\begin{aligned}")
    link = copied("Copy link")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#verdict")).to_contain_text("proved for every K")
    expect(page.locator("#formula")).to_have_value("softmax(z)")
    one.urls = [u for u in one.urls if u != "about:blank"]
    one.close()


def test_the_question_stands_in_the_address(browser: Any, server: Server) -> None:
    one = Opened(browser, server, "#ask=prove&formula=sum(softmax(z))+%3D%3D+1&shapes=z%3DK")
    page = one.page
    expect(page.locator("#verdict")).to_contain_text("proved for every K")
    page.get_by_role("button", name="logsumexp Hessian").click()
    expect(page.locator("#title")).to_contain_text("Hessian")
    assert "ask=hessian" in page.url
    page.go_back()
    expect(page.locator("#title")).to_contain_text("sum(softmax(z)) == 1")
    one.close()


def test_detail_asks_again(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("button", name="Softmax and cross-entropy").click()
    expect(page.locator("#derivation .said")).to_have_count(7)
    page.get_by_label("Detail").select_option("brief")
    expect(page.locator("#derivation .said")).to_have_count(0)
    page.get_by_label("Detail").select_option("full")
    expect(page.locator("#derivation .said").nth(8)).to_be_visible()


def test_theorems_are_offered_by_name(opened: Opened) -> None:
    page = opened.page
    page.get_by_label("What is asked").select_option("theorem")
    expect(page.locator("#theorems option[value=deriv_softmax]")).to_have_count(1)
    page.get_by_label("Theorem").fill("vjp_attention")
    page.get_by_label("Theorem").press("Enter")
    expect(page.locator("#verdict")).to_contain_text("proved")
    expect(page.get_by_role("heading", name="Backward")).to_be_visible()


def test_only_the_fields_of_the_question_are_there(opened: Opened) -> None:
    page = opened.page
    for ask, label in (("vjp", "Cotangent"), ("jvp", "Tangent"), ("mha", "Heads"), ("theorem", "Theorem")):
        page.get_by_label("What is asked").select_option(ask)
        expect(page.get_by_label(label, exact=True)).to_be_visible()
    expect(page.get_by_label("Formula", exact=True)).to_be_hidden()


def test_every_control_has_a_name(opened: Opened) -> None:
    unnamed = opened.page.evaluate("""() => [...document.querySelectorAll("input, select, textarea, button")]
        .filter((e) => !(e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML)""")
    assert unnamed == []
    assert opened.page.evaluate("document.documentElement.lang") == "en"


def test_a_server_that_is_gone_is_said(browser: Any, server: Server) -> None:
    one = Opened(browser, server)
    one.page.route("**/api/answer", lambda route: route.abort())
    one.page.get_by_role("button", name="Softmax Jacobian").click()
    expect(one.page.locator("#form-error")).to_contain_text("lemmata serve")
    one.complaints = [c for c in one.complaints if "ERR_FAILED" not in c]
    one.close()


def test_a_busy_server_is_asked_again(browser: Any, server: Server) -> None:
    one = Opened(browser, server)
    refused = []

    def once(route: Any) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route)
            route.fulfill(status=503, headers={"Retry-After": "1"}, json={"error": {"message": "busy"}})

    one.page.route("**/api/answer", once)
    one.page.get_by_role("button", name="Softmax Jacobian").click()
    expect(one.page.locator("#status")).to_contain_text("busy")
    expect(one.page.locator("#verdict")).to_contain_text("proved")
    one.complaints = [c for c in one.complaints if "503" not in c]
    one.close()


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_looks(browser: Any, server: Server, look: str, tmp_path: Path) -> None:
    options = {"light": {}, "dark": {"color_scheme": "dark"}, "phone": PHONE}[look]
    one = Opened(browser, server, **options)
    page = one.page
    for name in ("Softmax and cross-entropy", "Is KL symmetric?", "Attention shapes"):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_role("button", name=name)).to_have_attribute("aria-current", "true")
        expect(page.locator("#answer")).to_have_attribute("aria-busy", "false")
        # Wide things scroll by themselves; the page does not.
        width, room = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert width <= room, name
        picture = tmp_path / f"{name}.png"
        page.screenshot(path=picture, full_page=True)
        assert picture.stat().st_size > 20_000
    colours = page.evaluate("['color', 'backgroundColor'].map((c) => getComputedStyle(document.body)[c])")
    text, background = (sum(map(int, re.findall(r"\d+", c)[:3])) for c in colours)
    assert (text > background) is (look == "dark")
    one.close()
