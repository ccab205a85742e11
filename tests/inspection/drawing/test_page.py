"""Pages are whole and inert: everything is escaped, nothing is asked for, nothing runs."""

import base64
import hashlib
import html
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from netwright.core.errors import ConfigError
from netwright.inspection.drawing.page import (
    Html,
    Page,
    badge,
    beside,
    choice,
    code,
    folded,
    graph,
    heading,
    image,
    link,
    note,
    side_by_side,
    steps,
    table,
    text,
    tiles,
)
from tests.browser import browsing

EVIL = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</style><script>alert(3)</script>",
    "' onmouseover='alert(4)",
    "javascript:alert(5)",
    "<svg onload=alert(6)>",
    "&lt;script&gt;",
)


def evil_page() -> Page:
    page = Page(EVIL[0], subtitle=EVIL[1])
    for words in EVIL:
        page.section(
            words,
            text(words),
            note(words),
            heading(words),
            heading(words, anchor=words, beside=badge(words, "good")),
            link(words, words),
            code(words),
            tiles([(words, words, words)]),
            table([{words: words}], numbers=[words]),
            side_by_side(text(words), folded(words, text(words))),
            beside(text(words), code(words, is_table=True)),
            table([dict.fromkeys((words, "b", "c", words * 2), words)]),
            image(words, b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            graph(words, b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
        )
    page.section("choice", choice("way", {words: text(words) for words in EVIL[:4]}))
    page.section("steps", steps("turn", [text(words) for words in EVIL], jumps={EVIL[0]: 0}))
    return page


class Tags(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def tags_of(markup: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(markup)
    return parser.tags


def test_hostile_text_stays_text() -> None:
    tags = tags_of(evil_page().render())
    assert not {"script", "iframe", "object", "embed", "form", "svg"} & {tag for tag, _ in tags}
    for tag, attributes in tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("href", "src"):
            address = attributes.get(name)
            assert address is None or address.startswith(("#", "data:")), (tag, address)


def test_every_text_is_on_the_page() -> None:
    markup = evil_page().render()
    for words in EVIL:
        assert f"<p>{html.escape(words)}</p>" in markup


def test_the_policy_allows_this_style_and_nothing_else() -> None:
    markup = evil_page().render()
    policy = next(
        attributes["content"]
        for tag, attributes in tags_of(markup)
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    style = re.search(r"<style>(.*?)</style>", markup, re.DOTALL)
    assert style is not None and policy is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in style[1] and "@import" not in style[1]


def test_a_page_of_steps_lets_in_its_own_script_and_no_other(tmp_path: Path) -> None:
    page = Page("t", keys=True)
    page.section("s", steps("at", [text(EVIL[0]), text("b")], jumps={}))
    markup = page.render()
    scripts = re.findall(r"<script>(.*?)</script>", markup, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert len(scripts) == 1
    assert f"script-src {html.escape(repr(f'sha256-{digest}'))}; base-uri" in markup
    assert not re.search("https?:|eval|fetch|innerHTML|import", scripts[0])
    file = tmp_path / "page.html"
    file.write_text(markup.replace("</main>", "<script>alert(7)</script></main>"))
    with browsing() as browser:
        visit = browser.open(file)
    assert visit.dialogs == []
    assert any("Content Security Policy" in complaint for complaint in visit.complaints)


def test_blocks_that_are_not_markup_are_escaped() -> None:
    page = Page("t")
    page.section("s", "<b>plain text</b>")  # type: ignore[arg-type]
    assert "&lt;b&gt;plain text&lt;/b&gt;" in page.render()


def test_a_table_has_the_columns_of_its_first_row() -> None:
    shown = table([{"a": "1", "b": "2"}, {"a": "3"}], numbers=["b"])
    assert re.findall(r"<th[^>]*>(\w)</th>", shown) == ["a", "b"]
    assert '<td>3</td><td class="number"></td>' in shown
    assert table([]) == ""


def test_cells_of_a_wide_table_say_what_they_are() -> None:
    """A phone shows them as a paragraph."""
    narrow, wide = (
        {name: "1" for name in names} for names in (("", "a", "b"), ("", "a", "b", "c"))
    )
    assert "data-of" not in table([narrow])
    assert '<table class="many">' in table([wide])
    cells = re.findall(r"<td[^>]*>", table([wide]))
    assert cells == ["<td>", "<td>", '<td data-of="b">', '<td data-of="c">']


def test_a_picture_keeps_its_bytes_in_its_address() -> None:
    svg = b"<svg a=\"1\" b='2'>&amp; # % \n\xc3\xa4</svg>"
    address = re.search(r'src="data:image/svg\+xml,([^"]*)"', image("x", svg))
    assert address is not None
    assert unquote_to_bytes(address[1]) == svg
    assert not re.search('[<>&#"]', address[1])


def test_cells_may_hold_markup_of_ours() -> None:
    assert "<td><p>x</p></td>" in table([{"a": text("x")}])


def test_a_menu_leads_to_every_section() -> None:
    page = Page("t")
    for name in ("one", "two"):
        page.section(name, text(name))
    markup = page.render()
    for number, name in ((1, "one"), (2, "two")):
        assert f'<a href="#part-{number}">{name}</a>' in markup
        assert f'<section id="part-{number}"><h2>{name}</h2>' in markup


def test_a_choice_shows_its_first_pane() -> None:
    shown = choice("axis", {"epoch": text("a"), "step": text("b")})
    assert shown.count(" checked") == 1
    assert 'id="axis-0" checked' in shown


@pytest.mark.parametrize(("name", "count"), [("a b", 2), ("x", 5), ("x", 0)])
def test_a_choice_that_the_style_cannot_show_is_refused(name: str, count: int) -> None:
    with pytest.raises(ConfigError, match=r"^a choice has a plain name and 1 to 4 panes, got '"):
        choice(name, {str(number): Html("") for number in range(count)})


def test_steps_lead_to_the_one_before_and_the_one_after() -> None:
    shown = steps("at", [text("a"), text("b"), text("c")], jumps={"end": 2})
    assert shown.count(" checked") == 1 and 'id="at-0" checked' in shown
    assert re.findall(r'<label for="at-(\d)">(\w+)</label>', shown) == [
        *(("1", "next"), ("2", "end")),
        *(("0", "back"), ("2", "next"), ("2", "end")),
        *(("1", "back"), ("2", "end")),
    ]
    assert re.findall(r"<span>(\w+)</span>", shown) == ["back", "next"]


@pytest.mark.parametrize(("name", "panes"), [("a b", [Html("")]), ("x", [])])
def test_steps_have_a_plain_name_and_panes(name: str, panes: list[Html]) -> None:
    with pytest.raises(ConfigError, match=r"^steps have a plain name and at least 1 pane, got '"):
        steps(name, panes, jumps={})


def test_in_a_real_browser_nothing_runs_and_nothing_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(evil_page().render(), encoding="utf-8")
    with browsing() as browser:
        visit = browser.open(file)
        assert browser.run("document.title") == EVIL[0]
        assert browser.run("getComputedStyle(document.body).margin") == "0px"  # the style is let in
        shown = "[...document.querySelectorAll('.choice > .pane')].map(p => p.checkVisibility())"
        assert browser.run(shown) == [True, False, False, False]
        browser.run("document.getElementById('way-2').click()")
        assert browser.run(shown) == [False, False, True, False]
    assert visit.requests == [file.as_uri()]
    assert visit.complaints == []
    assert visit.dialogs == []


def test_the_browser_does_notice_what_pages_must_not_do(tmp_path: Path) -> None:
    file = tmp_path / "bad.html"
    file.write_text(
        "<script>alert('hello'); console.error('bad'); fetch('http://127.0.0.1:9/')</script>"
    )
    with browsing() as browser:
        visit = browser.open(file)
    assert visit.dialogs == ["hello"]
    assert "http://127.0.0.1:9/" in visit.requests
    assert any("bad" in complaint for complaint in visit.complaints)
