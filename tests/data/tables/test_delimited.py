"""CSV and TSV: what is read, what is repaired and said, and what is refused with its line."""

import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netwright.core.errors import DataError
from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.raw_table import MISSING, RawTable
from tests.repetition import for_each

SLOW_MACHINE = [HealthCheck.too_slow]  # how busy the machine is proves nothing about the reader


def parse(text: str | bytes, delimiter: str = "") -> RawTable:
    content = text if isinstance(text, bytes) else text.encode()
    return parse_delimited("t.csv", content, delimiter=delimiter)


def test_plain_file() -> None:
    table = parse("a,b\n1,x\n2,NA\n")
    assert table.columns == {"a": ["1", "2"], "b": ["x", ""]}
    assert (table.lines, list(table.positions), table.notes) == ([2, 3], [0, 1], ())


def test_quoted_fields_may_hold_anything_and_rows_keep_their_first_line() -> None:
    table = parse('a, b\n"x, ""y""",1\n"two\nlines", "2"\nz,3\n')
    assert table.columns == {"a": ['x, "y"', "two\nlines", "z"], "b": ["1", "2", "3"]}
    assert table.lines == [2, 3, 5]


@for_each(
    ("text", "note"),
    [
        (b"\xef\xbb\xbfa,b\n1,2\n", "a UTF-8 byte order mark (BOM) was skipped"),
        (b"a,b\r\n1,2\r\n", "line ends were CRLF"),
        (b"a,b\r1,2\r", "line ends were CR"),
        (b"a;b\n1;2\n", "the fields are separated by semicolons"),
        (b"a\tb\n1\t2\n", "the fields are separated by tabs"),
        (b"a|b\n1|2\n", "the fields are separated by vertical bars"),
        (b"sep=;\na;b\n1;2\n", "line 1 says that the fields are separated by semicolons"),
        (b'"SEP=,"\na,b\n1,2', "line 1 says that the fields are separated by commas"),
        (
            "a,b\n1,2\n".encode("utf-16"),
            "the file is UTF-16, according to its byte order mark (BOM)",
        ),
        (b"a,b,\n1,2,\n", "the last column has no name and no value: left out"),
        (b"a,b,, \n1,2,,NA\n", "the last 2 columns have no name and no value: left out"),
        (b"\na,b\n\n1,2\n  \n", "blank lines skipped: 3"),
        (
            b'"",a,b\nr1,1,2\n',
            "the unnamed first column is left out, every value is different (id-like)",
        ),
    ],
)
def test_repairs_are_said(text: bytes, note: str) -> None:
    table = parse(text)
    assert table.columns == {"a": ["1"], "b": ["2"]}
    assert table.notes == (note,)


def test_a_last_row_that_may_be_totals_is_said() -> None:
    table = parse("where,n\neast,1\nwest,2\nTotal:,3\n")
    assert len(table) == 3
    assert table.notes == (
        "the last row may be totals, as where is 'Total:': it is read like the others, remove it "
        "from the file if it sums them up",
    )


def test_a_header_that_may_be_a_row_is_said() -> None:
    table = parse("\n5.1,setosa,1\n4.9,setosa,0\n")
    said = "line 2 is taken as the header, although it contains numbers: 5.1, 1"
    assert table.notes == ("blank lines skipped: 1", said)


def test_delimiter_is_the_commonest_of_the_header_outside_quotes() -> None:
    assert list(parse('"a,b,c";d\n1;2\n').columns) == ["a,b,c", "d"]
    assert list(parse("a,b;c\n1,2\n").columns) == ["a", "b;c"]  # of equals the comma
    assert list(parse("a,b\tc\n1,2\t3\n", "\t").columns) == ["a,b", "c"]


def test_a_first_line_that_names_the_delimiter_outdoes_header_and_ending() -> None:
    table = parse("sep=;\na,b,c;d\n1,5;x\n", "\t")
    assert table.columns == {"a,b,c": ["1.5"], "d": ["x"]}
    assert table.lines == [3]
    with pytest.raises(DataError, match=r"^t\.csv:3: wanted 2 fields as in the header, got 1"):
        parse("sep=;\na;b\n1\n")


def test_decimal_commas_are_points_beside_semicolons() -> None:
    table = parse("a;b;c\n1,5;x,y;1\n-2;z;2\n;1,5;3\n")
    assert table.columns == {"a": ["1.5", "-2", ""], "b": ["x,y", "z", "1,5"], "c": ["1", "2", "3"]}
    assert table.notes[1:] == ("a: decimal commas were read as points, as in '1,5'",)


@for_each(
    ("text", "sentence"),
    [
        (b"", "t.csv: the file is empty"),
        (b" \n\n", "t.csv: the file is empty"),
        (b"\xef\xbb\xbf", "t.csv: the file is empty"),
        (b"a,b\n", "t.csv: there is a header but no row"),
        (
            b"a,b\n1,2, \n",
            "t.csv:2: wanted 2 fields as in the header, and no delimiter at the end of the line, "
            "got 3",
        ),
        (b"a,b,\n1,2,\n1,2,3\n", "t.csv:3: field 3 has no name in the header, give it one"),
        (b"a,b\n1,2\n1,2,3\n", "t.csv:3: wanted 2 fields as in the header, got 3"),
        (b'a,b\n"x\ny",2\n1\n', "t.csv:4: wanted 2 fields as in the header, got 1"),
        (b'a,b\n1,"2\n3,4\n', 't.csv:2: a quote (") is opened in this row and never closed'),
        (b'a,b\n1,"2"x\n', 't.csv:2: text follows a closing quote (") of this row'),
        (b'a,b\n1,"2\n3"x\n', 't.csv:2: text follows a closing quote (") of this row in line 3'),
        (
            b'a,b\n1,"' + b"x" * 200_000,
            "t.csv:2: a field is longer than 131072 characters (an open quote?)",
        ),
        (
            b"a,b\n1," + b"x" * 10_000_000 + b"\n",
            "t.csv:2: a field is longer than 131072 characters (an open quote?)",
        ),
        (b"a,b\n1,\0\n", "t.csv:2: a NUL byte; the file is not text (save it as UTF-8)"),
        (
            b"\n# exported\na,b\n1,2\n",
            "t.csv:3: wanted one field as in the header, line 2, got 2",
        ),
        (
            b"sep=:\na:b\n1:2\n",
            "t.csv:1: 'sep=' names no column, and a delimiter only in line 1, where it is a comma, "
            "semicolon, tab or vertical bar; remove this line",
        ),
        (
            b"a,b,a\n1,2,3\n",
            "t.csv:1: column 'a' appears twice in the header, as field 1 and field 3; rename one "
            "of them",
        ),
        (b"\na,,c\n1,2,3\n", "t.csv:2: field 2 of the header is empty, give it a name"),
        (b"\n,b\nx,2\nx,3\n", "t.csv:2: field 1 of the header is empty, give it a name"),
        (b'""\nx\n', "t.csv: there is a header but no row"),
        (
            b"a,b\r\n1,caf\xe9\r\n",
            "t.csv:2: byte 0xe9 at position 10 is not UTF-8; save the file as UTF-8",
        ),
        (b"a\r1\r\xff\r", "t.csv:3: byte 0xff at position 4 is not UTF-8; save the file as UTF-8"),
        (b"\xfe\xff\0a", "t.csv: there is a header but no row"),
        (
            b"\xfe\xff\0a\0",
            "t.csv:1: byte 0x00 at position 4 is not UTF-16; the file is truncated or damaged",
        ),
    ],
)
def test_refuses_in_one_sentence(text: bytes, sentence: str) -> None:
    with pytest.raises(DataError) as refusal:
        parse(text)
    assert str(refusal.value) == sentence


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW_MACHINE)
@given(st.binary(max_size=200) | st.text('a1,;\t"\n\r .é', max_size=60).map(str.encode))
def test_any_bytes_give_a_table_or_a_refusal(content: bytes) -> None:
    try:
        table = parse(content)
    except DataError as refusal:
        assert str(refusal).startswith("t.csv")
        assert "\n" not in str(refusal)
    else:
        assert len(table) > 0
        assert all(len(cells) == len(table) for cells in table.columns.values())


letters = st.characters(codec="utf-8", exclude_categories=["Cc"])
plain_cells = (
    st.text(letters, min_size=1, max_size=8).map(str.strip).filter(lambda text: text not in MISSING)
)


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW_MACHINE)
@given(st.lists(st.tuples(plain_cells, plain_cells), min_size=1, max_size=6))
def test_what_the_standard_writer_writes_is_read_back(rows: list[tuple[str, str]]) -> None:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([("a", "b"), *rows])
    table = parse(file.getvalue())
    assert list(zip(*table.columns.values(), strict=True)) == rows


def test_a_table_has_no_more_columns_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_COLUMNS", "3")
    assert len(parse_delimited("t.csv", b"a,b,c\n1,2,3\n").columns) == 3
    with pytest.raises(DataError) as refusal:
        parse_delimited("t.csv", b"a,b,c,d\n1,2,3,4\n")
    assert str(refusal.value) == (
        "t.csv:1 holds 4 columns, at most 3 columns are allowed; if you trust it, raise "
        "NETWRIGHT_MAX_COLUMNS"
    )


def test_many_columns_are_told_apart_in_one_pass() -> None:
    names = [f"c{place}" for place in range(50_000)]  # each with each other would take minutes
    content = f"{','.join(names)}\n{','.join('1' * len(names))}\n".encode()
    assert list(parse_delimited("t.csv", content).columns) == names


def test_an_encoding_that_is_given_is_read_by() -> None:
    content = "größe,b\nä,1\n".encode("latin-1")
    table = parse_delimited("t.csv", content, dialect=Dialect(encoding="latin-1"))
    assert table.columns == {"größe": ["ä"], "b": ["1"]}
    with pytest.raises(DataError, match=r"or give its encoding, as in --set data.encoding=latin-1"):
        parse_delimited("t.csv", content + "größe,2".encode(), dialect=Dialect())
    with pytest.raises(DataError, match=r"save the file as UTF-8$"):  # nothing reads a setting
        parse_delimited("t.csv", content)


@for_each(
    ("encoding", "said"),
    [("cp1252", "Windows-1252"), ("utf-16-le", "UTF-16-LE"), ("utf-16-be", "UTF-16-BE")],
)
def test_an_encoding_is_detected_and_said(encoding: str, said: str) -> None:
    content = "größe,b,preis\nä,1,5 €\nö,2,6 €\n".encode(encoding)
    table = parse_delimited("t.csv", content, dialect=Dialect())
    assert table.columns == {"größe": ["ä", "ö"], "b": ["1", "2"], "preis": ["5 €", "6 €"]}
    assert table.notes[0].startswith(f"the file is read as {said}, as detected; where letters are")
    assert not parse_delimited("t.csv", content, dialect=Dialect(encoding=encoding)).notes
