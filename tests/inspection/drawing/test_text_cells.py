"""Tokens laid out in lines."""

from netwright.inspection.drawing.text_cells import lay_out


def test_a_line_is_filled_before_the_next_begins() -> None:
    assert lay_out(["ab", "c", "def", "g"], 6) == [(0, 0, 3), (0, 3, 2), (1, 0, 4), (1, 4, 2)]


def test_a_token_longer_than_a_line_has_one_of_its_own() -> None:
    assert lay_out(["abcdefgh", "i"], 4) == [(0, 0, 9), (1, 0, 2)]
