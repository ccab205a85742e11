"""T19: eighteen kinds of broken table; each is refused by its place or repaired with a note."""

import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pytest

import netwright as nw
from netwright.data.files.file_content import Allowance
from netwright.data.files.file_encoding import decode_bytes
from netwright.data.tables import delimited
from tests.faults.scenario import Figures, Scenario

ROWS = 24
LINES = ("size,other,kind", *(f"{row}.25,{row * 7 % 11},{row % 2}" for row in range(ROWS)))


def written(*lines: str) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def with_cell(cell: str) -> bytes:
    """The table with another first cell in line 6."""
    return GOOD.replace(b"\n4.25,", f"\n{cell},".encode())


GOOD = written(*LINES)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A broken table.

    Args:
        name: what is wrong with it.
        content: its bytes.
        place: where a refusal has to point, as "6" or "6: column 'size'"; "" for the whole file.
        note: the beginning of the note on a repair; where it is given, all rows must be there.
        target: the column to predict.
        ending: of the file's name.
    """

    name: str
    content: bytes
    place: str = ""
    note: str = ""
    target: str = "kind"
    ending: str = "csv"


CASES = (
    Case(name="ragged rows", content=GOOD.replace(b"4.25,6,0", b"4.25,6"), place="6"),
    Case(name="an open quote", content=with_cell('"4.25'), place="6"),
    Case(
        name="a byte order mark",
        content=b"\xef\xbb\xbf" + GOOD,
        note="a UTF-8 byte order mark (BOM)",
    ),
    Case(name="UTF-16", content=GOOD.decode().encode("utf-16"), note="the file is UTF-16"),
    Case(name="UTF-16 cut off", content=GOOD.decode().encode("utf-16")[:-1], place="25"),
    Case(
        name="Latin-1",
        content=GOOD.replace(b"size", "größe".encode("latin-1")),
        note="the file is read as Windows-1252",
    ),
    Case(
        name="Latin-1 among UTF-8",
        content=with_cell("é").decode().encode("latin-1").replace(b"other", "öther".encode()),
        place="6",
    ),
    Case(name="NUL bytes", content=with_cell("4\0"), place="6"),
    Case(name="CR lines", content=GOOD.replace(b"\n", b"\r"), note="line ends were CR"),
    Case(
        name="no header",
        content=written("7.5,3,1", *LINES[1:]),
        target="1",
        note="line 1 is taken as the header, although it contains numbers: 7.5, 3, 1",
    ),
    Case(name="a column twice", content=GOOD.replace(b"other", b"size"), place="1"),
    Case(name="empty", content=b""),
    Case(name="a header alone", content=written(LINES[0])),
    Case(name="1e400", content=with_cell("1e400"), place="6: column 'size'"),
    Case(name="NaN", content=with_cell("NaN"), note="size: number, 1 missing"),
    Case(
        name="decimal commas",
        content=GOOD.replace(b",", b";").replace(b".", b","),
        note="size: decimal commas were read as points",
    ),
    Case(name="a field of 10 MB", content=with_cell("4" * 10_000_000), place="6"),
    Case(name="a gzip cut off", content=gzip.compress(GOOD)[:-8], ending="csv.gz"),
)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How training on a table ended."""

    refusal: str = ""
    rows: int = 0
    notes: tuple[str, ...] = ()
    left_behind: bool = False


def learned_from(case: Case, folder: Path) -> Ending:
    """Train on the table by the public door."""
    folder.mkdir()
    path = folder / f"table.{case.ending}"
    path.write_bytes(case.content)
    out = folder / "run"
    try:
        settings: dict[str, Any] = {"epochs": 1, "device": "cpu", "quiet": True}
        run = nw.fit("softmax", path, target=case.target, out=out, **settings)
    except nw.NetwrightError as error:
        return Ending(refusal=str(error), left_behind=out.exists())
    rows = sum(len(split) for _, split in run.data.splits())
    return Ending(rows=rows, notes=tuple(run.results["notes"]))


def holds(case: Case, ending: Ending) -> bool:
    """Whether the fault was pointed at, or repaired aloud with no row lost."""
    if case.note:
        return ending.rows == ROWS and any(note.startswith(case.note) for note in ending.notes)
    place = f"table.{case.ending}:{case.place}"
    one_sentence = bool(re.fullmatch(r"[^\n]{1,200}", ending.refusal))
    return one_sentence and ending.refusal.startswith(place) and not ending.left_behind


def measure(folder: Path) -> Figures:
    endings = [learned_from(case, folder / str(place)) for place, case in enumerate(CASES)]
    trained = [ending.rows for ending in endings if not ending.refusal]
    return Figures(
        n=len(CASES),
        passed=sum(holds(case, ending) for case, ending in zip(CASES, endings, strict=True)),
        counts={
            "refused": sum(bool(ending.refusal) for ending in endings),
            "repaired": len(trained),
            "rows lost": sum(ROWS - rows for rows in trained),
        },
    )


SCENARIO = Scenario(
    code="T19", title="broken tables", measure=measure, least={"refused": 11, "repaired": 5}
)


def test_broken_tables_are_refused_by_their_place_or_repaired_aloud(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert (figures.n, figures.counts["rows lost"]) == (18, 0)


def test_the_same_table_unbroken_is_learned_from(tmp_path: Path) -> None:
    ending = learned_from(Case(name="good", content=GOOD), tmp_path / "good")
    assert (ending.refusal, ending.rows, len(ending.notes)) == ("", ROWS, 3)


@pytest.mark.slow
def test_planted_bug_of_a_lenient_decoder_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lenient(name: str, content: bytes, encoding: str) -> tuple[str, str]:
        return content.decode(errors="replace"), ""

    monkeypatch.setattr(delimited, "decode_bytes", lenient)
    assert measure(tmp_path).passed == 13


@pytest.mark.slow
def test_planted_bug_of_skipped_rows_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lenient(name: str, content: bytes, encoding: str) -> tuple[str, str]:
        text, note = decode_bytes(name, content, encoding)
        commas = text.split("\n", 1)[0].count(",")
        return "\n".join(line for line in text.split("\n") if line.count(",") >= commas), note

    monkeypatch.setattr(delimited, "decode_bytes", lenient)
    figures = measure(tmp_path)
    assert (figures.passed, figures.counts["rows lost"]) == (17, 1)


@pytest.mark.slow
def test_planted_bug_of_a_gzip_read_as_far_as_it_goes_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unpacked(_allowance: Allowance, _path: Path, file: BinaryIO) -> bytes:
        return zlib.decompressobj(wbits=31).decompress(file.read())

    monkeypatch.setattr(Allowance, "unpack", unpacked)
    assert measure(tmp_path).passed == 17
