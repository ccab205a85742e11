"""Arrow's text: the same cells, numbers and codes as a list of the same text has."""

import pytest

from netwright.data.tables.column_cells import ListCells
from netwright.data.tables.raw_table import MISSING, clean
from tests.repetition import for_each

pa = pytest.importorskip("pyarrow")

from netwright.data.tables.arrow_cells import (  # noqa: E402
    BLANKS,
    ArrowCells,
    arrow_cells,
)


def cells_of(*chunks: list[str]) -> ArrowCells:
    return arrow_cells(pa.chunked_array(list(chunks), pa.string()))


@for_each(
    "texts",
    [
        ["b", "a", "", "b"],
        ["1", "+2.5", "1e5", "", "-0", ".5", "5.", "00012", "1e-400"],
        ["\uff11\uff12", "3"],  # digits of another script, which Python reads and Arrow does not
        ["0.1", "123456789012345678901234567890", "4.9e-324", "1.7976931348623157e308", "3.4e38"],
        *(["1", text] for text in ["inf", "1e400", "nan(1)", "1_000", "-NAN", "x", "3.5e38"]),
    ],
)
def test_numbers_and_codes_are_those_of_a_list(texts: list[str]) -> None:
    cells, plain = cells_of(texts[:1], texts[1:]), ListCells(texts)
    assert cells == plain
    assert cells.coded.texts == list(plain.coded.texts)
    assert cells.coded.codes.tolist() == plain.coded.codes.tolist()
    assert cells.is_missing.tolist() == plain.is_missing.tolist()
    if plain.numbers is None:
        assert cells.numbers is None
    else:
        assert cells.numbers is not None
        assert cells.numbers.tobytes() == plain.numbers.tobytes()


def test_blanks_and_missing_marks_go_as_they_do_from_a_list() -> None:
    texts = [" a b\t", *sorted(MISSING), "\u3000NA\u00a0", "\x1c1\x1f", "none", f"{BLANKS}x"]
    assert cells_of(["", *texts]) == ["", *clean(texts)]
    assert len(BLANKS) == sum(chr(code).isspace() for code in range(0x110000))


def test_single_cells_and_slices() -> None:
    cells = cells_of(["a", ""], ["b", "c"])
    assert (cells[0], cells[1], cells[-1], list(cells[1:3])) == ("a", "", "c", ["", "b"])
