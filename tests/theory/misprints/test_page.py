"""The page of misprints: both forms, the number between them, and text that stays text."""

import json
import math

from netwright.theory.misprints.entry import Misprint, Telling
from netwright.theory.misprints.page import check_misprints, misprints_page

SIGN = Misprint(
    name="minus-sign",
    topic="Algebra and calculus",
    right="-x",
    wrong="x",
    difference="The <sign> is lost.",
    experiment=lambda: Telling(what="sum", rule="equals", bound=0.0, right=0.0, wrong=math.inf),
)
WORDS = Misprint(
    name="words", topic="Algebra and calculus", right="a", wrong="b", difference="They differ."
)


def test_both_forms_are_measured_and_told() -> None:
    sign, words = check_misprints([SIGN, WORDS])
    assert sign.sentence == "Measured, sum: 0 with the right form, inf with the wrong one."
    assert words.sentence == "Nothing to compute: the difference is in the words."
    assert words.to_json()["experiment"] is None
    told = sign.to_json()["experiment"]
    assert (told["right"], told["wrong"], told["tells"]) == (0.0, "inf", True)
    json.dumps(told, allow_nan=False)


def test_the_page_shows_right_and_wrong_and_escapes_words() -> None:
    page = misprints_page(check_misprints([SIGN, WORDS]))
    assert "2 formulas, 1 of them told apart by an experiment" in page
    assert page.count('<span class="badge good">right</span>') == 2
    assert page.count('<span class="badge bad">wrong</span>') == 2
    assert '<h3 id="minus-sign">Minus sign</h3>' in page
    assert "The &lt;sign&gt; is lost." in page
