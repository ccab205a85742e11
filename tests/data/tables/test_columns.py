"""What a column is taken for, by the training rows alone."""

from dataclasses import replace

import pytest

from netwright.core.errors import DataError
from netwright.data.tables.columns import (
    GivenKind,
    Inference,
    forced_column,
    infer_column,
    summarise,
)
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn
from tests.repetition import for_each


def column(cells: list[str], name: str = "a", train: int | None = None) -> TrainingColumn:
    lines = range(2, 2 + len(cells))
    table = RawTable(name="t.csv", columns={name: cells}, positions=range(len(cells)), lines=lines)
    return TrainingColumn(table, name, range(len(cells) if train is None else train))


COUNT = [str(i) for i in range(30)]
MARK = "; if '%s' means missing, train with --set %s"
STAR, BOTH = ("*", "'data.missing=*'"), ("a', 'b", "data.missing=a,b")
DASH = MARK % ("-", "data.missing=-")
EUROS = f"60% of its cells are numbers{DASH}"
EACH = "every value is different (id-like)"
SPACED = "its cells may be numbers: --set data.thousands=space reads 1 234 as 1234"
KG = "its cells are numbers followed by 'kg': remove that to learn from the numbers"


CODES = "'%s' begins with 0, as codes do; --set data.types.zip=number reads numbers"
ITS = "'%s' begins with 0, which is lost in a number: "
ONE = (
    "'007' and '7' are one value, as numbers and as categories: put a letter before codes that "
    "differ"
)
LOST = f"{ITS}--set data.types.zip=category if it is a code"


FORMS = (
    "its cells are dates in several forms, as '2023-02-01' and '13/02/2023': write all as "
    "2024-12-31"
)


@for_each(
    ("name", "cells", "kind", "remark"),
    [
        ("a", ["1", "2.5", "", "1"], "number", ""),
        ("a", COUNT, "number", ""),
        ("zip", ["02139", "10001", "", "10001"], "category", CODES % "02139"),
        ("zip", ["10001", "02139"], "number", LOST % "02139"),  # no category: none repeats
        ("a", ["01", "12", "12"], "number", (LOST % "01").replace(".zip", ".a")),  # a month
        ("zip", ["0930", "1215", "2359", "1215"], "number", LOST % "0930"),  # a time
        ("zip", ["0930", "1215", "2400", "1215"], "category", CODES % "0930"),
        ("zip", ["007", "12", "8", "12"], "number", LOST % "007"),
        ("zip", ["007", "7", "12"], "number", ONE),
        ("a", ["0.5", "007", "007"], "number", ""),
        ("a", ["000.5", "001.5", "001.5"], "number", ""),
        ("a", ["-007", "-008", "-007"], "number", ""),
        ("a", ["0", "1", "0"], "number", ""),
        ("id", ["001", "002"], "id", "every value is different (id-like)"),
        ("a", ["x", "y", "x"], "category", ""),
        ("a", ["TRUE", "FALSE", "TRUE"], "category", ""),
        ("a", ["x", "1", "2", "2"], "category", "75% of its cells are numbers"),
        ("a", [*"1223", "-", "-"], "category", f"67% of its cells are numbers{DASH}"),
        ("a", [*"1223", "*", "*"], "category", f"67% of its cells are numbers{MARK % STAR}"),
        ("a", [*"1223", *"ab" * 2], "category", "50% of its cells are numbers" + MARK % BOTH),
        ("a", [*"12233445", *"abcd" * 2], "category", "50% of its cells are numbers"),
        ("a", ["12 kg", "3.5 kg", "3.5 kg"], "category", KG),
        ("a", ["12 kg", "3.5 kg"], "id", f"every value is different (id-like; {KG})"),
        ("a", ["1 234.5", "12", "3 456"], "id", f"every value is different (id-like; {SPACED})"),
        ("a", ["1\u202f234", "12", "12"], "category", SPACED),
        ("a", ["1 234", "12 34", "12 34"], "category", ""),
        ("a", ["12 kg", "3.5 g", "3.5 g"], "category", ""),
        ("a", ["12 kg", "kg", "kg"], "category", ""),
        ("a", ["PHP 5", "PHP 7", "PHP 7"], "category", ""),
        ("a", ["CAD1000", "CAD1001", "CAD1002"], "id", "every value is different (id-like)"),
        ("a", ["THB025", "THB010", "THB010"], "category", ""),
        (
            "a",
            ["12 EUR", "3 EUR", "3 EUR", "-", "-"],
            "category",
            f"60% of its cells are numbers{DASH}",
        ),
        ("a", ["$1.50", "$2", "$2", "-", "-"], "category", f"60% of its cells are numbers{DASH}"),
        ("a", ["x", "", "x"], "category", ""),
        ("a", ["5", "", "5"], "number", ""),
        ("a", ["2024-01-01", "2024-01-02"], "date", ""),
        ("a", ["12/31/23", "1/2/24"], "date", "years of two digits are 1969 to 2068"),
        ("a", [f"n{i}" for i in COUNT], "id", EACH),
        (
            "review",
            [f"film {i} is good" for i in COUNT],
            "id",
            "every value is different (id-like; --set data.types.review=text learns from its "
            "words, --text review from it alone)",
        ),
        (
            "a",
            [f"n{i}" for i in COUNT] + ["n1"],
            "free text",
            "30 of 31 values are different (free text)",
        ),
        ("id", COUNT, "id", EACH),
        ("customer_id", COUNT, "id", EACH),
        ("PassengerId", COUNT, "id", EACH),
        ("Unnamed: 0", COUNT, "id", EACH),
        ("Unnamed: 0.1", COUNT, "id", EACH),
        ("Unnamed: 1", COUNT, "number", ""),
        ("a", ["2023-02-01", "13/02/2023", "5 Mar 2023"] * 2, "category", FORMS),
        ("paid", COUNT, "number", ""),
        ("VALID", COUNT, "number", ""),
        ("id", [*COUNT, "1"], "number", ""),
        ("id", ["0.5", "1.5"], "number", ""),
        ("a", ["x", "x"], "constant", "every value is 'x' (constant)"),
        ("a", ["1", "1.0"], "constant", "every value is '1' (constant)"),
        ("a", ["", ""], "empty", "no value in the training rows"),
    ],
)
def test_kind(name: str, cells: list[str], kind: str, remark: str) -> None:
    found = infer_column(column(cells, name))
    assert (found.kind, found.remark) == (kind, remark)


def test_nearly_all_numbers_is_a_number_so_that_the_rest_is_refused() -> None:
    assert infer_column(column(["1", "2"] * 10 + ["x"])).kind == "number"  # 20 of 21 are
    assert infer_column(column(["1", "2"] * 9 + ["x"])).kind == "category"  # 18 of 19: 94.7 %


def test_other_rows_decide_nothing() -> None:
    assert infer_column(column(["1", "2", "x", "y", "z"], train=2)).kind == "number"
    assert infer_column(column(["1", "1", "2"], train=2)).kind == "constant"


def test_a_column_of_lists_is_not_called_constant() -> None:
    cells = ["<list>", "", "<list>"]
    given = replace(column(cells).table, types={"a": ""})
    said = "its values are of type list, wanted numbers, texts or dates"
    found = Inference(kind="empty", remark=said)
    assert infer_column(TrainingColumn(given, "a", range(3))) == found
    assert infer_column(column(cells)) == Inference(kind="category")  # words of a file


def test_form_of_dates_is_found() -> None:
    found = infer_column(column(["31/01/2024", "01/02/2024"]))
    assert found == Inference(kind="date", date_form="%d/%m/%Y")


def test_ambiguous_dates_are_refused() -> None:
    with pytest.raises(DataError) as refusal:
        infer_column(column(["", "03/04/2024", "05/06/2024"]))
    assert str(refusal.value) == (
        "t.csv:3: column 'a': '03/04/2024' may be day/month or month/day, like all its values; "
        "write 2024-12-31, or drop the column"
    )


@pytest.mark.parametrize(
    ("cells", "plain", "mark"),
    [(["3", "1,5", "0"], "1.5", "."), (["1,234.5", "12,000", "7"], "1234.5", ",")],
)
def test_numbers_with_commas_are_refused(cells: list[str], plain: str, mark: str) -> None:
    wrong = next(cell for cell in cells if "," in cell)
    with pytest.raises(DataError) as refusal:
        infer_column(column(cells))
    assert str(refusal.value) == (
        f"t.csv:{cells.index(wrong) + 2}: column 'a': {wrong!r} is not a number: write {plain}, or "
        f"train with --set data.thousands={mark} to read it so"
    )
    assert forced_column(column(cells), "category").kind == "category"


@for_each(
    ("kind", "cells", "found"),
    [
        ("category", ["1", "2"], Inference(kind="category")),
        ("category", ["x", "y"], Inference(kind="category")),
        ("number", ["1", "x"], Inference(kind="number")),
        ("date", ["20240101", "20240102"], Inference(kind="date", date_form="iso")),
        ("date", ["x", "y"], Inference(kind="date", date_form="iso")),
        ("date", ["1.2.2024", "31.12.2024"], Inference(kind="date", date_form="%d.%m.%Y")),
        ("number", ["", ""], Inference(kind="empty", remark="no value in the training rows")),
        (
            "category",
            ["1", "1"],
            Inference(kind="constant", remark="every value is '1' (constant)"),
        ),
    ],
)
def test_given_kinds_are_kept(kind: GivenKind, cells: list[str], found: Inference) -> None:
    assert forced_column(column(cells, "id"), kind) == found


def test_summary_counts_the_training_rows() -> None:
    summary = summarise(column(["1", "", "2", "1", "3"], train=4), "number", "a number")
    assert summary.to_json() == {
        "name": "a",
        "kind": "number",
        "missing": 1,
        "distinct": 2,
        "note": "a number",
    }
    assert summary.sentence == "a: a number"
