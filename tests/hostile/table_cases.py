"""Tables: cells, headers and lines that lie, arrays that lie, and archives that burst."""

import gzip
import io
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.hostile.case import Case, End, Place
from tests.hostile.edits import CONTROL, ESCAPE, GARBAGE, fifo, folder, link, write

TRAIN = "train mlp {file} --target y --epochs 1 --set model.hidden=4 --no-report --quiet"
DOCTOR = "doctor {file} --target y"
ROWS = [
    f"{one / 7:.3f},{'red' if one % 3 else 'blue'},{'yes' if one % 2 else 'no'}"
    for one in range(30)
]
Content = bytes | Callable[[], bytes]


def table(*, header: str = "a,colour,y", rows: list[str] | None = None, end: str = "") -> bytes:
    """A table of two features and a target."""
    lines = [header, *(ROWS if rows is None else rows)]
    return ("\n".join(lines) + "\n" + end).encode("utf-8", "surrogatepass")


def _cells(colour: str, target: str = "yes") -> bytes:
    """A table in which one colour, and one class, are called so."""
    other = ROWS[10:]
    return table(rows=[*(f"1.5,{colour},{target}" for _ in range(10)), *other])


def _packed(content: bytes) -> bytes:
    return gzip.compress(content, 1)


@cache
def _bomb() -> bytes:
    """A gzip file of a few MB that unpacks to 3 GB: one member many times over."""
    return _packed(table()) + 48 * _packed(b"1.5,red,yes\n" * 5_600_000)


def _zip(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


TABLES: dict[str, tuple[Content, End]] = {
    "nothing in it": (b"", "refused"),
    "only a header": (b"a,colour,y\n", "refused"),
    "only line ends": (b"\n" * 100_000, "refused"),
    "NUL bytes": (table().replace(b"red", b"r\x00d"), "either"),
    "nothing but NUL bytes": (bytes(100_000), "refused"),
    "all 256 bytes": (GARBAGE, "refused"),
    "invalid UTF-8": (table().replace(b"red", b"\xff\xfe\xfd"), "either"),
    "two encodings": (
        table() + "1,größe,yes\n".encode("latin-1") + "1,größe,no\n".encode(),
        "either",
    ),
    "half a surrogate": (table(rows=[*ROWS, "1,\ud800,yes"]), "either"),
    "a byte-order mark of UTF-32": (table().decode().encode("utf-32"), "either"),
    "a lone quote at its end": (table(end='"'), "either"),
    "a lone quote in the middle": (table(rows=[*ROWS[:15], '1,"red,yes', *ROWS[15:]]), "either"),
    "a field of 100 MB": (lambda: table(rows=[*ROWS, f"1,{'x' * 100_000_000},yes"]), "either"),
    "a header of 10 MB": (lambda: table(header=f"a,{'x' * 10_000_000},y"), "either"),
    "a million columns": (
        lambda: table(
            header=",".join(map("c{}".format, range(1_000_000))) + ",y",
            rows=[",".join("1" * 1_000_000) + f",{one % 2}" for one in range(3)],
        ),
        "either",
    ),
    "a million delimiters in one line": (table(rows=[*ROWS, "," * 1_000_000]), "refused"),
    "a column without a name": (table(header="a,,y"), "refused"),
    "a column twice": (table(header="a,a,y"), "refused"),
    "escape codes in its header": (table(header=f"a,{ESCAPE},y"), "either"),
    "escape codes in its labels": (_cells("red", ESCAPE), "either"),
    "escape codes in its cells": (_cells(ESCAPE), "either"),
    "escape codes in a number": (table(rows=[*ROWS, f"{CONTROL},red,yes"]), "either"),
    "escape codes in a line too short": (table(rows=[*ROWS, CONTROL]), "refused"),
    "carriage returns in cells": (table(rows=[*ROWS, '1,"red\rerror: all is well",yes']), "either"),
    "line ends in its labels": (_cells("red", '"yes\nerror: no"'), "either"),
    "text turned around in its labels": (_cells("red", "\u202eyes\u2066"), "either"),
    "formulas as cells": (_cells("=cmd|' /C calc'!A0", "@SUM(1)"), "either"),
    "tags of HTML as cells": (_cells("<script>alert(1)</script>", "</td><img src=x>"), "either"),
    "markup of rich as cells": (
        _cells("[bold red]x[/]", "[link=file:///etc/passwd]y[/link]"),
        "either",
    ),
    "format strings as cells": (_cells("{0.__class__}", "%s%n%x"), "either"),
    "numbers that are not finite": (table(rows=[*ROWS, "inf,red,yes", "-inf,red,no"]), "either"),
    "numbers of 10,000 digits": (table(rows=[*ROWS, f"{'9' * 10_000},red,yes"]), "either"),
    "numbers of 10^308": (table(rows=[*ROWS, "1e308,red,yes", "-1e308,red,no"]), "either"),
    "digits of other scripts": (table(rows=[*ROWS, "١٢٣,red,yes"]), "either"),
    "dates that are none": (
        table(rows=[f"9999-99-99,{row}" for row in ROWS], header="d,a,colour,y"),
        "either",
    ),
    "dates out of range": (
        table(rows=[f"99999999-01-01T00:00:00,{row}" for row in ROWS], header="d,a,colour,y"),
        "either",
    ),
    "a class for each row": (table(rows=[f"1,red,class {one}" for one in range(3_000)]), "either"),
    "one class": (table(rows=["1,red,yes"] * 30), "either"),
    "no value at all": (table(rows=[",,"] * 30), "refused"),
}
FILES: dict[str, tuple[str, Content, End]] = {
    "a gzip file that is cut off": ("x.csv.gz", _packed(table())[:-20], "refused"),
    "a gzip file of garbage": ("x.csv.gz", b"\x1f\x8b" + GARBAGE, "refused"),
    "a gzip file with a wrong sum": ("x.csv.gz", _packed(table())[:-8] + bytes(8), "refused"),
    "a gzip file with garbage behind": ("x.csv.gz", _packed(table()) + GARBAGE, "either"),
    "a gzip file in a gzip file": ("x.csv.gz", _packed(_packed(table())), "refused"),
    "a gzip file of 3 GB": ("x.csv.gz", _bomb, "refused"),
    "a text of 3 GB in a gzip file": ("x.txt.gz", _bomb, "refused"),
    "a zip file": ("x.zip", _zip("x.csv", table()), "refused"),
    "a zip file called .csv": ("x.csv", _zip("../../outside/x.csv", table()), "refused"),
    "a zip file called .npz": ("x.npz", _zip("../../outside/x.npy", table()), "refused"),
    "a parquet file of garbage": ("x.parquet", GARBAGE, "refused"),
    "a parquet file of magic bytes": ("x.parquet", b"PAR1" + GARBAGE + b"PAR1", "refused"),
    "a parquet file whose footer is 2 GB": (
        "x.parquet",
        b"PAR1" + GARBAGE + struct.pack("<I", 2**31 - 1) + b"PAR1",
        "refused",
    ),
    "an sqlite file": ("x.db", b"SQLite format 3\x00" + GARBAGE, "refused"),
    "a file without an ending": ("x", table(), "refused"),
    "an ending of escape codes": (f"x.{CONTROL.replace('/', '')}", table(), "refused"),
}


def array(shape: str, kind: str = "<f4", version: bytes = b"\x01\x00", data: bytes = b"") -> bytes:
    """A .npy file of this header."""
    head = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(head)) + head + data


CODE = "__import__('os').system('touch ../outside/ran')"
NUMBERS = struct.pack("<40f", *range(40))
ARRAYS: dict[str, bytes] = {
    "an array of 10^15 numbers": array("(1000000000, 1000000)", data=NUMBERS),
    "an array of negative shape": array("(-1, 2)", data=NUMBERS),
    "an array whose shape wraps around": array("(4294967296, 4294967296)", data=NUMBERS),
    "an array whose shape is code": array(
        "__import__('os').system('touch ../outside/ran')", data=NUMBERS
    ),
    "an array whose header is deep": array("(" * 20_000 + ")" * 20_000, data=NUMBERS),
    "an array of an unknown type": array("(20, 2)", kind="<q99", data=NUMBERS),
    "an array of records": array("(20, 2)", kind="V1000000000", data=NUMBERS),
    "an array of no numbers": array("(0, 2)"),
    "an array of 40 dimensions": array("(" + "1, " * 40 + ")", data=NUMBERS[:4]),
    "an array of garbage": GARBAGE,
    "an array of an unknown version": array("(20, 2)", version=b"\x09\x00", data=NUMBERS),
    "an array that is cut off": array("(20, 2)", data=NUMBERS[:50]),
    "an array of text with escape codes": array(
        "(2,)", kind="<U4", data=(CONTROL[:4] * 2).encode("utf-32-le")
    ),
}


def _written(file: str, content: Content) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        place.copy("table")
        write(place.work / file, content() if callable(content) else content)

    return make


def _arrays(content: bytes) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        (place.work / "arrays").mkdir()
        write(place.work / "arrays" / "inputs.npy", content)
        write(place.work / "arrays" / "targets.npy", array("(20,)", kind="<i8", data=bytes(160)))

    return make


def tables() -> Iterator[Case]:
    """Texts of tables, to train on and, some of them, to predict."""
    for name, (content, end) in TABLES.items():
        yield Case(
            kind="tables: content",
            name=f"a table with {name}",
            make=_written("x.csv", content),
            commands=(DOCTOR.format(file="x.csv"),)
            if "escape" in name or "turned" in name or "line ends in" in name
            else (TRAIN.format(file="x.csv"),),
            end=end,
        )
    for name in (
        "escape codes in its header",
        "escape codes in its labels",
        "escape codes in its cells",
        "NUL bytes",
        "a field of 100 MB",
        "half a surrogate",
    ):
        content = TABLES[name][0]
        yield Case(
            kind="tables: content",
            name=f"rows to predict with {name}",
            make=_written("x.csv", content),
            commands=("predict run x.csv --proba --keep colour", "evaluate run x.csv"),
            end="either",
        )


def labels() -> Iterator[Case]:
    """Columns and classes that are escape codes, on their whole way: every command shows them."""

    def make(place: Place) -> None:
        write(
            place.work / "x.csv",
            table(
                header=f"a,c{CONTROL},y",
                rows=[
                    row.replace("yes", f"y{CONTROL}").replace("red", f"r{ESCAPE}") for row in ROWS
                ],
            ),
        )

    yield Case(
        kind="tables: content",
        name="columns, categories and classes of escape codes in every command",
        make=make,
        commands=(
            "train mlp x.csv --target y --epochs 1 --set model.hidden=4 --no-report --out run",
            "evaluate run",
            "predict run x.csv --proba",
            "inspect run confusion",
            "inspect run summary",
            "inspect run class-balance",
            "report run --out page.html",
            f"predict run --row 'a=1,c{CONTROL}=red'",
        ),
        end="harmless",
    )


def files() -> Iterator[Case]:
    """Files that are no tables, archives that burst."""
    for name, (file, content, end) in FILES.items():
        command = "train lstm {file} --epochs 1 --quiet" if "txt" in file else TRAIN
        yield Case(
            kind="tables: archives and formats",
            name=f"{name} as data",
            make=_written(file, content),
            commands=(command.format(file=f"'{file}'"),),
            end=end,
        )
    for name, content in ARRAYS.items():
        yield Case(
            kind="tables: arrays",
            name=name,
            make=_arrays(content),
            commands=("train mlp arrays --epochs 1 --no-report --quiet",),
        )


def odd_files() -> Iterator[Case]:
    """What is no regular file, where a table is asked for."""
    made: Mapping[str, Callable[[Path, Place], None]] = {
        "a pipe": lambda path, _: fifo(path),
        "a folder": lambda path, _: folder(path),
        "a link to a device": lambda path, _: link(path, "/dev/zero"),
        "a link to itself": lambda path, _: link(path, path.name),
        "a dangling link": lambda path, _: link(path, "nothing"),
    }
    for name, how in made.items():

        def make(place: Place, how: Callable[[Path, Place], None] = how) -> None:
            place.copy("table")
            how(place.work / "x.csv", place)

        yield Case(
            kind="tables: odd files",
            name=f"a table that is {name}",
            make=make,
            commands=(TRAIN.format(file="x.csv"), "predict run x.csv", "evaluate run x.csv"),
        )

    def nothing(place: Place) -> None:
        place.copy("table")

    for file in (
        "/dev/zero",
        "/dev/stdin.csv",
        "/proc/self/mem",
        "x\x00.csv".replace("\x00", "") * 200,
    ):
        yield Case(
            kind="tables: odd files",
            name=f"a table called {file[:40]}",
            make=nothing,
            commands=(TRAIN.format(file=file), f"predict run {file}"),
        )

    def large(place: Place) -> None:
        place.copy("table")
        with (place.work / "x.csv").open("wb") as file:
            file.write(table())
            file.truncate(3_000_000_000)

    yield Case(
        kind="tables: odd files",
        name="a table larger than the user allows",
        make=large,
        commands=(TRAIN.format(file="x.csv"), "predict run x.csv"),
        environment={"NETWRIGHT_MAX_CONTENT_GB": "0.1"},
    )


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from tables()
    yield from labels()
    yield from files()
    yield from odd_files()
