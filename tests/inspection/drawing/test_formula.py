"""Formulas: every card of the package in both forms, single rules by hand, refusals by name."""

# ruff: noqa: RUF001 - the Greek letters are meant

import logging
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from urllib.parse import unquote_to_bytes

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import text_to_path

from netwright.core.card import Card
from netwright.core.errors import ConfigError
from netwright.inspection.drawing.formula import (
    _MATHTEXT_NAMES,
    POINTS,
    formula_block,
    formula_svg,
    formula_text,
)
from netwright.recipes.explain.explain import KINDS
from tests.repetition import for_each

CARDS: dict[str, Card] = {
    f"{kind}-{name}": rows.read(rows.load(name)).card
    for kind, rows in KINDS.items()
    if kind not in {"data set", "recipe"}  # they have no formula
    for name in rows.names
}


def width_of(picture: bytes) -> float:
    return float(ET.fromstring(picture).attrib["width"].removesuffix("pt"))


def height_of(picture: bytes) -> float:
    return float(ET.fromstring(picture).attrib["height"].removesuffix("pt"))


# Views of the report show what was measured: most of them have no formula.
FORMULAS = sorted(
    {latex for card in CARDS.values() for latex in (card.formula, *card.symbols)} - {""}
)


def outline_of(latex: str) -> Path:
    """The whole formula as matplotlib itself outlines it, in hundredths of the font's size."""
    known = re.sub(r"\\[A-Za-z]+", lambda found: _MATHTEXT_NAMES.get(found[0], found[0]), latex)
    font = FontProperties(size=text_to_path.FONT_SCALE, math_fontfamily="cm")
    corners, codes = text_to_path.get_text_path(font, f"${known}$", ismath=True)
    return Path(np.asarray(corners), codes)


def check_is_whole(latex: str, picture: bytes) -> None:
    """Every corner of the outlines lies on the picture."""
    left, top, width, height = map(float, ET.fromstring(picture).attrib["viewBox"].split())
    outline = outline_of(latex)
    is_drawn = np.asarray(outline.codes) != Path.CLOSEPOLY
    drawn = np.asarray(outline.vertices)[is_drawn] * POINTS / 100
    assert left <= drawn[:, 0].min() and drawn[:, 0].max() <= left + width
    assert top <= -drawn[:, 1].max() and -drawn[:, 1].min() <= top + height


def differing(formulas: Sequence[str]) -> list[str]:
    """Formulas in which every command and every sign of all of them occurs, the longest first."""
    chosen, seen = list[str](), set[str]()
    for latex in sorted(formulas, key=lambda latex: (-len(latex), latex)):
        parts = set(re.findall(r"\\[A-Za-z]+|\\.|.", latex))
        if parts - seen:
            chosen.append(latex)
            seen |= parts
    return chosen


class Logged(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """What matplotlib logs: mathtext only logs a letter that it does not have."""
    handler, source = Logged(), logging.getLogger("matplotlib")
    source.addHandler(handler)
    yield handler.lines
    source.removeHandler(handler)


def test_a_letter_that_is_missing_is_logged(logged: list[str]) -> None:
    text_to_path.get_text_path(FontProperties(), "$\u4e2d$", ismath=True)
    assert "does not have a glyph" in logged[0]


def check_card(latex: str, logged: list[str]) -> None:
    logged.clear()
    picture = formula_svg(latex)
    assert b" d='m" in picture
    check_is_whole(latex, picture)
    assert not logged
    line = formula_text(latex)
    assert line
    assert line == line.strip()
    assert "\n" not in line
    assert not re.search(r"\\|[\u2003\u2009]| {4}|frac|sqrt|quad", line)


@for_each("latex", differing(FORMULAS))
def test_every_command_and_sign_of_the_cards_can_be_drawn_and_written(
    latex: str, logged: list[str]
) -> None:
    check_card(latex, logged)


@pytest.mark.slow
@for_each("latex", FORMULAS)
def test_every_card_can_be_drawn_and_written(latex: str, logged: list[str]) -> None:
    check_card(latex, logged)


def test_a_slanted_letter_reaches_beyond_its_line() -> None:
    font = FontProperties(size=text_to_path.FONT_SCALE, math_fontfamily="cm")
    advance = text_to_path.mathtext_parser.parse("$P$", text_to_path.DPI, font)[0] * POINTS / 100
    assert width_of(formula_svg("P")) > advance + 1  # with less it would read F


def test_the_cards_of_every_table_are_among_them() -> None:
    assert len(CARDS) > 40
    assert r"\phi(z) = \max(0, z)" in FORMULAS
    bare = {name for name, card in CARDS.items() if not card.formula}
    assert all(name.startswith("view-") for name in bare)


@for_each(
    ("latex", "line"),
    [
        (r"\phi(W_l f_l + b_l)", "φ(Wₗ fₗ + bₗ)"),
        (r"f_{l+1}, \quad f(x)", "fₗ₊₁,   f(x)"),
        (r"a\quad b \qquad c", "a   b   c"),
        (r"w^\top x \Rightarrow \binom{s-1}{i}", "wᵀ x ⇒ C(s-1, i)"),
        ("W_L", "W_L"),
        ("W_{L+1}", "W_{L+1}"),
        (r"\sum_{j,k} n_{jk}", "Σ_{j,k} nⱼₖ"),
        ("x^2 + x^{10} + X^T", "x² + x¹⁰ + Xᵀ"),
        ("e^{-z}", "e⁻ᶻ"),
        ("e^{o_c}", "e^(o_c)"),
        ("x^q", "x^q"),
        ("x^{a + b}", "xᵃ⁺ᵇ"),
        ("x_{C + 1}", "x_{C+1}"),
        (r"\log\eta", "log η"),
        (r"\frac{a}{b}", "a/b"),
        (r"\frac{a + b}{c}", "(a + b)/c"),
        (r"\frac{1}{2n}", "1/(2n)"),
        (r"\frac{z}{20}", "z/20"),
        (r"\frac{0.5}{x_i}", "0.5/xᵢ"),
        (r"\frac{\mathrm{RMS}[x]}{f(y)}", "RMS[x]/f(y)"),
        (r"\frac{f(x) g(y)}{e^{o_c}}", "(f(x) g(y))/e^(o_c)"),
        (r"\frac{1}{n}\sum_i x_i", "1/n Σᵢ xᵢ"),
        (r"-\frac{a}{b}\|w\|^2", "-a/b ‖w‖²"),
        (r"\eta\frac{\hat m}{\sqrt{\hat v} + \epsilon}", "η m̂/(√v̂ + ε)"),
        (r"\frac{1}{\sqrt{n}}", "1/√n"),
        (r"\frac{\frac{a}{b}}{c}", "(a/b)/c"),
        (r"\sqrt{\frac{6}{n + m}}", "√(6/(n + m))"),
        (r"\tfrac{1}{2} \Pr(s^+ > s^-)", "1/2 Pr(s⁺ > s⁻)"),
        (r"\log\frac{p(x \mid y)}{q}", "log(p(x | y)/q)"),
        (r"\arg\min_{W,b} f", "arg min_{W,b} f"),
        (r"n\log n - \log(x)", "n log n - log(x)"),
        (r"\hat y_i, \bar{x}, \tilde z", "ŷᵢ, x̄, z̃"),
        (r"[\operatorname{rank}_i(y_i) \le 5]", "[rankᵢ(yᵢ) ≤ 5]"),
        (r"x \in \mathbb{R}^n, \mathbb{E} x", "x ∈ ℝⁿ, 𝔼 x"),
        (r"x \text{ if } y", "x if y"),
        (r"C = 2:\; p\,q", "C = 2: p q"),
        (r"\left(1 - \frac{t}{T}\right)", "(1 - t/T)"),
        (r"\{a\} \mathbf{x}", "{a} x"),
        (r"A \cup B, \lVert x\rVert", "A ∪ B, ‖ x‖"),
        (r"w \leftarrow w - \eta g", "w ← w - η g"),
        (r"\unheard x", "unheard x"),
        ("a\n  + b", "a + b"),
        ("x_", "x"),
        ("a}", "a"),
        ("", ""),
    ],
)
def test_a_line_of_text(latex: str, line: str) -> None:
    assert formula_text(latex) == line


def test_the_picture_is_the_same_every_time_and_holds_no_date() -> None:
    first, second = formula_svg(r"\frac{a}{b}"), formula_svg(r"\frac{a}{b}")
    assert first == second
    assert b"date" not in first.lower()
    assert b"<text" not in first  # outlines: no font is needed to see it


def test_the_picture_is_as_large_as_the_formula() -> None:
    assert width_of(formula_svg("x + y + z")) > 2 * width_of(formula_svg("x"))
    assert height_of(formula_svg(r"\frac{a}{b}")) > 1.5 * height_of(formula_svg("a"))
    assert width_of(formula_svg("x")) < 20


def test_letters_of_any_height_stand_on_one_line() -> None:
    assert height_of(formula_svg("x")) == height_of(formula_svg("f"))


@for_each(
    ("newer", "older"),
    [
        (r"a \le b", r"a \leq b"),
        (r"a \ge b", r"a \geq b"),
        (r"\lVert a \rVert", r"\| a \|"),
        (r"\tfrac{1}{2} \left( x", ""),
    ],
)
def test_names_that_mathtext_lacks_are_translated(newer: str, older: str) -> None:
    if older:
        assert formula_svg(newer) == formula_svg(older)
    else:  # a small fraction is lower than a full one
        assert height_of(formula_svg(r"\tfrac{1}{2}")) < height_of(formula_svg(r"\frac{1}{2}"))


def test_leqno_is_not_taken_for_le() -> None:
    with pytest.raises(ConfigError, match="leqno"):
        formula_svg(r"\leqno")


@for_each("latex", [r"x + \foo", "a$b", "", r"\frac{a"])
def test_what_cannot_be_drawn_is_refused_by_its_formula(latex: str) -> None:
    with pytest.raises(ConfigError) as refused:
        formula_svg(latex)
    assert str(refused.value).startswith(f"the formula {latex!r} cannot be drawn: ")
    assert "\n" not in str(refused.value)


def test_the_refusal_says_what_is_not_known() -> None:
    with pytest.raises(ConfigError, match=r"cannot be drawn: Unknown symbol: \\foo"):
        formula_svg(r"x + \foo")


def test_the_block_shows_the_picture_and_reads_as_latex() -> None:
    block = formula_block(r"a < b")
    assert block.startswith('<div class="formula"><img alt="a &lt; b" src="data:image/svg+xml,')
    content = re.search(r'svg\+xml,([^"]+)"', block)
    assert content is not None
    assert unquote_to_bytes(content[1]) == formula_svg("a < b")


def test_parts_of_a_formula_are_pictures_of_one_height() -> None:
    block = formula_block(r"x = y, \quad \frac{a}{b} \qquad z")
    assert re.findall(r'alt="(.*?)"', block) == ["x = y,", r"\frac{a}{b}", "z"]
    pictures = [unquote_to_bytes(found) for found in re.findall(r'svg\+xml,([^"]+)"', block)]
    assert len({height_of(picture) for picture in pictures}) == 1


@pytest.mark.parametrize("latex", [r"\frac{a \quad b}{c}", r"\left( a \quad b \right)", r"a \quad"])
def test_what_belongs_together_is_not_parted(latex: str) -> None:
    assert formula_block(latex).count("<img") == 1
