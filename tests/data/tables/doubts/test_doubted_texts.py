"""Texts that may be something else, and how they are read as that."""

from netwright.data.tables.doubts.doubted_texts import case_hint, date_hint, number_hint, time_hint
from tests.repetition import for_each

MISSING = "; if %r means missing, train with --set data.missing=%s"
DASHES = ("--", "--")
REMOVE = "remove that to learn from the numbers"


def counted(texts: list[str]) -> dict[str, int]:
    return {text: texts.count(text) for text in texts}


@for_each(
    ("texts", "said"),
    [
        (["1", "2", "x"], "67% of its cells are numbers"),
        (["1", "x", "x"], ""),
        (["1", *"-" * 4], "20% of its cells are numbers" + MISSING % ("-", "-")),
        (["1", *"-" * 14], ""),
        (["US$ 5", "US$1,200"], f"its cells are numbers behind 'US$': {REMOVE}"),
        (["US$ 5", "R$ 7"], ""),
        (["~5", "~7.5"], f"its cells are numbers behind '~': {REMOVE}"),
        (["CAD 5", "n7"], "50% of its cells are numbers"),
        (["5 kg", "7kg"], f"its cells are numbers followed by 'kg': {REMOVE}"),
    ],
)
def test_numbers(texts: list[str], said: str) -> None:
    assert number_hint(counted(texts)) == said


SEVERAL = "its cells are dates in several forms, as '2024-01-02' and '2/13/2024': write all as "


@for_each(
    ("texts", "said"),
    [
        (["2024-01-02", "2/13/2024", "--", "--"], f"50% of its cells are dates{MISSING % DASHES}"),
        (["2024-01-02", "2024-01-03", "soon"], "67% of its cells are dates"),
        (["2024-01-02", "2/13/2024", "3 May 24"], f"{SEVERAL}2024-12-31"),
        (["soon", "2024-01-03", "later"], ""),
        (["1.5", "red"], ""),
    ],
)
def test_dates(texts: list[str], said: str) -> None:
    assert date_hint(counted(texts)) == said


def test_names_in_several_cases() -> None:
    assert case_hint(["YES", "no", "Yes"]) == "'YES', 'Yes' differ in capital letters alone"
    assert case_hint(["yes", "no"]) == ""


@for_each(
    ("texts", "is_times"),
    [
        (["10:30", "09:05:07"], True),
        (["1:00 PM", "120:59"], True),
        (["0:00:05.25"], True),
        (["10:30", "noon"], False),
        (["10:75"], False),
        ([], False),
    ],
)
def test_times(texts: list[str], is_times: bool) -> None:
    said = time_hint(counted(texts))
    assert bool(said) is is_times
    if said:
        assert said.startswith(f"its cells are times, as {texts[0]!r}: write them as numbers")
