"""Search folders: a plan, a journal or a database, locks; each a link, garbage or a lie."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import product

import yaml

from tests.hostile.case import Case, End, Place
from tests.hostile.edits import CONTROL, DEEP, ESCAPE, REPLACEMENTS, link, remove, write

AGAIN = "search --resume search --quiet"
JOURNAL, DATABASE = "study.journal", "study.db"
FILES = ("search.yaml", "trials.json", "best.yaml", "report.html", "locks", "locks/study")
ODD = (
    "a link to a secret",
    "a dangling link",
    "a link to itself",
    "a link to a device",
    "a folder",
    "a pipe",
    "garbage",
    "empty",
)
SHELL = "x\ntouch owned #"


def replaced() -> Iterator[Case]:
    """Each file of a search by something else."""
    files = [("search", name) for name in (*FILES, JOURNAL, "locks/journal")]
    for (source, name), how in product([*files, ("database", DATABASE)], ODD):

        def make(place: Place, source: str = source, name: str = name, how: str = how) -> None:
            path = place.copy(source, to="search") / name
            remove(path)
            REPLACEMENTS[how](path, place)

        yield Case(
            kind="search: files",
            name=f"{name} of a search is {how}",
            make=make,
            commands=(AGAIN,),
            end="either",
        )


def _plan(*keys: str, to: object, source: str = "search") -> Callable[[Place], None]:
    """Another value in the plan."""

    def make(place: Place) -> None:
        path = place.copy(source, to="search") / "search.yaml"
        values = yaml.safe_load(path.read_text())
        inner = values
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to
        write(path, yaml.safe_dump(values))

    return make


def _shell_into_profile(place: Place) -> None:
    """The journal leads to a file that a shell reads, and the plan has text for it."""
    _plan("recipe", "train", "monitor", to=SHELL)(place)
    link(place.work / "search" / JOURNAL, place.home / ".profile")


def _new_folder(name: str, target: str) -> Callable[[Place], None]:
    """A folder in which a new search is begun, with a link in it."""

    def make(place: Place) -> None:
        place.copy("table.csv", "table.csv")
        (place.work / "new").mkdir()
        link(place.work / "new" / name, place.top / target)

    return make


def _lines(*lines: str) -> Callable[[Place], None]:
    """Lines behind those of the journal."""

    def make(place: Place) -> None:
        with (place.copy("search") / JOURNAL).open("a") as file:
            file.writelines(f"{line}\n" for line in lines)
        (place.work / "run").rename(place.work / "search")

    return make


def _only(content: bytes) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        write(place.copy("search", to="search") / JOURNAL, content)

    return make


def _op(code: int, **values: object) -> str:
    return json.dumps({"op_code": code, "worker_id": "w", **values})


def _database(statement: str) -> Callable[[Place], None]:
    """The database after a statement of SQL."""

    def make(place: Place) -> None:
        path = place.copy("database", to="search") / DATABASE
        with closing(sqlite3.connect(path)) as database:
            database.executescript(statement)

    return make


def _cut_database(place: Place) -> None:
    path = place.copy("database", to="search") / DATABASE
    write(path, path.read_bytes()[:5_000])


def _beside(name: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        link(place.copy("database", to="search") / name, place.outside / "secret.txt")

    return make


def _odd_folder(name: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        place.copy("table.csv", "table.csv")
        (place.work / name).mkdir()

    return make


def single() -> Iterator[Case]:
    """Plans, journals and databases that lie."""
    new = "search mlp table.csv --target y --trials 1 --epochs 1 --space train.lr=0.1|0.2 --quiet"
    made: dict[str, tuple[Callable[[Place], None], str, End]] = {
        "the monitor is a shell's text, the journal a link": (
            _shell_into_profile,
            AGAIN,
            "refused",
        ),
        "the monitor has escape codes": (
            _plan("recipe", "train", "monitor", to=ESCAPE),
            AGAIN,
            "either",
        ),
        "the metric has escape codes": (_plan("metric", to=ESCAPE), AGAIN, "refused"),
        "the sampler is unknown": (_plan("sampler", to=CONTROL), AGAIN, "refused"),
        "the storage is an address": (
            _plan("storage", to="mysql://example.com/x"),
            AGAIN,
            "refused",
        ),
        "no space": (_plan("space", to={}), AGAIN, "refused"),
        "a space of text": (_plan("space", to="all"), AGAIN, "refused"),
        "a space with escape codes": (_plan("space", to={ESCAPE: "1|2"}), AGAIN, "refused"),
        "a space of 10^12 values": (
            _plan("space", to={"train.lr": "0..1:1e-12"}),
            f"{AGAIN} --trials 1",
            "either",
        ),
        "trials are text": (_plan("trials", to="many"), AGAIN, "refused"),
        "trials are negative": (_plan("trials", to=-5), AGAIN, "refused"),
        "the seed is a list": (_plan("seed", to=[1]), AGAIN, "refused"),
        "the format is another": (_plan("format", to=99), AGAIN, "refused"),
        "the data of the plan are a list": (_plan("data", to=[1, 2]), AGAIN, "refused"),
        "the recipe is missing": (_plan("recipe", to=None), AGAIN, "refused"),
        "the data are a device": (
            _plan("recipe", "data", "path", to="/dev/zero"),
            f"{AGAIN} --trials 2",
            "refused",
        ),
        "journal: a line of garbage": (_lines("\x00\x01garbage"), AGAIN, "either"),
        "journal: a line that is a list": (_lines("[1, 2]"), AGAIN, "either"),
        "journal: a line deeply nested": (_lines(DEEP), AGAIN, "either"),
        "journal: an unknown operation": (_lines(_op(99)), AGAIN, "either"),
        "journal: an operation of text": (_lines('{"op_code": "0"}'), AGAIN, "either"),
        "journal: a trial of another study": (
            _lines(_op(4, study_id=7, datetime_start=None)),
            AGAIN,
            "either",
        ),
        "journal: the end of an unknown trial": (
            _lines(_op(6, trial_id=10**6, state=1, values=[0.1], datetime_complete=None)),
            AGAIN,
            "either",
        ),
        "journal: a value of text": (
            _lines(_op(6, trial_id=0, state=1, values=[ESCAPE], datetime_complete="now")),
            AGAIN,
            "either",
        ),
        "journal: a date that is none": (
            _lines(_op(6, trial_id=0, state=1, values=[1], datetime_complete="yesterday")),
            AGAIN,
            "either",
        ),
        "journal: NaN": (
            _lines(_op(7, trial_id=0, step=1, intermediate_value=float("nan"))),
            AGAIN,
            "either",
        ),
        "journal: attributes with escape codes": (
            _lines(_op(2, study_id=0, user_attr={ESCAPE: ESCAPE})),
            AGAIN,
            "either",
        ),
        "journal: no line end": (_only(b'{"op_code": 0'), AGAIN, "either"),
        "journal: 10 MB of one line": (_only(b"x" * 10_000_000), AGAIN, "either"),
        "journal: no UTF-8": (_only(b"\xff\xfe\n"), AGAIN, "either"),
        "database: cut off": (_cut_database, AGAIN, "refused"),
        "database: no tables": (
            _database("DROP TABLE trials; DROP TABLE studies;"),
            AGAIN,
            "refused",
        ),
        "database: a table of other columns": (
            _database("DROP TABLE trials; CREATE TABLE trials (x TEXT);"),
            AGAIN,
            "refused",
        ),
        "database: another version": (
            _database("UPDATE alembic_version SET version_num = 'v99';"),
            AGAIN,
            "refused",
        ),
        "database: text for numbers": (
            _database(f"UPDATE trial_values SET value = '{CONTROL}';"),
            AGAIN,
            "either",
        ),
        "database: attributes that are no JSON": (
            _database("INSERT INTO study_user_attributes VALUES (99, 1, 'x', '{');"),
            AGAIN,
            "either",
        ),
        "database: its journal is a link": (_beside("study.db-journal"), AGAIN, "either"),
        "database: its log is a link": (_beside("study.db-wal"), AGAIN, "either"),
        "a new folder holds a journal as a link": (
            _new_folder(JOURNAL, "home/.profile"),
            f"{new} --out new",
            "refused",
        ),
        "a new folder holds locks as a link": (
            _new_folder("locks", "outside/folder"),
            f"{new} --out new",
            "refused",
        ),
        "a new folder holds a plan as a link": (
            _new_folder("search.yaml", "outside/secret.txt"),
            f"{new} --out new",
            "refused",
        ),
        "a database in a folder called a?b": (
            _odd_folder("a"),
            f"{new} --storage sqlite --out 'a/a?b'",
            "harmless",
        ),
        "a database in a folder called a%20b#": (
            _odd_folder("a"),
            f"{new} --storage sqlite --out 'a/a%20b#'",
            "harmless",
        ),
    }
    for name, (make, command, end) in made.items():
        yield Case(
            kind=f"search: {_kind(name)}",
            name=f"search, {name}",
            make=make,
            commands=(command,),
            end=end,
        )


def _kind(name: str) -> str:
    begin = name.partition(":")[0]
    return {"journal": "journals", "database": "databases"}.get(begin, "plans and folders")


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from replaced()
    yield from single()
