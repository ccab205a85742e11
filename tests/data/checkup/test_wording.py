"""How a sentence names places and counts."""

from netwright.data.checkup.wording import counted, first_few, share


def test_sentences_name_the_first_places_and_count_the_rest() -> None:
    assert first_few([3, 8]) == "3, 8"
    assert first_few(list(range(7))) == "0, 1, 2, 3, 4 and 2 more"
    assert share(12, 1200) == "12 of 1,200 (1.0%)"


def test_one_thing_is_not_many() -> None:
    assert [counted(number, "row") for number in (0, 1, 2000)] == ["0 rows", "1 row", "2,000 rows"]
