"""Text from data: what steers a terminal or turns text around is seen, nothing else changes."""

import unicodedata

from netwright.core.visible import visible, visible_line
from tests.repetition import for_each

STEERING = {
    "escape": ("\x1b[31m", "\\x1b[31m"),
    "C1": ("\x9b31m\x85", "\\x9b31m\\x85"),
    "NUL, bell, backspace, DEL": ("\0\a\b\x7f", "\\x00\\x07\\x08\\x7f"),
    "carriage return": ("a\rb\r\n", "a\\rb\\r\n"),
    "direction": ("\u202e\u2066\u200f", "\\u202e\\u2066\\u200f"),
    "line ends of Unicode": ("\u2028\u2029\x0b\x0c", "\\u2028\\u2029\\x0b\\x0c"),
    "a byte that is no UTF-8": ("a\udc9b", "a\\udc9b"),
}


@for_each("case", STEERING)
def test_what_steers_is_seen(case: str) -> None:
    text, shown = STEERING[case]
    assert visible(text) == shown
    assert visible(shown) == shown


def test_every_control_character_and_every_mark_of_direction_is_seen() -> None:
    for code in range(0x110000):
        letter = chr(code)
        steers = (
            unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"}
            or unicodedata.bidirectional(letter) in TURNING
            or letter in "\u200e\u200f\u061c"
        )
        if steers:
            assert (visible(letter) == letter) == (letter in "\n\t"), hex(code)
            assert visible_line(letter) != letter, hex(code)


TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_letters_signs_and_joined_emoji_stay() -> None:
    for text in (
        "naïve φ(x) 漢字 שלום",
        "\U0001f469\u200d\U0001f680",
        "a\u200cb\xa0c",
        "C:\\x1b [red]",
    ):
        assert visible(text) == text
        assert visible_line(text) == text


def test_a_line_stays_one() -> None:
    assert visible_line("a\tb\nc") == "a\\tb\\nc"
    assert visible("a\tb\nc") == "a\tb\nc"
