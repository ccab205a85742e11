"""Run folders: each file replaced by something else, folders that are links."""

from collections.abc import Callable, Iterator
from itertools import product

from tests.hostile.case import Case, Place
from tests.hostile.edits import CONTROL, REPLACEMENTS, link, remove

OPEN = "evaluate run"
RESUME = "train --resume run --no-report --quiet"
# File of a finished run -> a command that reads it. Without the first ones there is no run.
NEEDED = {
    "config.yaml": OPEN,
    "results.json": OPEN,
    "model": OPEN,
    "model/manifest.json": OPEN,
    "model/config.json": OPEN,
    "model/preprocessor.json": OPEN,
    "model/model.safetensors": OPEN,
}
OPTIONAL = {
    "metrics.jsonl": "inspect run curves --json",
    "layers.jsonl": "inspect run activations --json",
    "profile.json": "inspect run profile --json",
    "path.safetensors": "inspect run landscape --set cells=3 --json",
}
# Of a run that is gone on with. What is wrong with its newest checkpoint, an older one mends.
WRITTEN = ("env.json", "metrics.jsonl", "layers.jsonl", "last.json", "best.json", ".lock", "model")
NEWEST = "checkpoints/step-000003"
KEPT = (NEWEST, *(f"{NEWEST}/{name}" for name in ("manifest.json", "state.json")))
TENSORS = (f"{NEWEST}/model.safetensors", f"{NEWEST}/state.safetensors")
LINKS = ("a link to a secret", "a dangling link", "a link to a device")


def replaced(source: str, name: str, how: str) -> Callable[[Place], None]:
    """Copies a run, and puts something else in the place of one of its files."""

    def make(place: Place) -> None:
        path = place.copy(source) / name
        remove(path)
        REPLACEMENTS[how](path, place)

    return make


def replaced_files() -> Iterator[Case]:
    """Each file of a run by each of the replacements."""
    for (name, command), how in product(NEEDED.items(), REPLACEMENTS):
        yield Case(
            kind="run: files of a finished run",
            name=f"{name} is {how}",
            make=replaced("table", name, how),
            commands=(command,),
        )
    for (name, command), how in product(OPTIONAL.items(), REPLACEMENTS):
        yield Case(
            kind="run: files of a finished run",
            name=f"{name} is {how}",
            make=replaced("table", name, how),
            commands=(command,),
            end="refused" if how in LINKS else "either",
        )
    for name, how in product(WRITTEN, REPLACEMENTS):
        yield Case(
            kind="run: files of a resumed run",
            name=f"resumed, {name} is {how}",
            make=replaced("cut", name, how),
            commands=(RESUME,),
            end="either",
        )
    for name, how in product((*KEPT, *TENSORS), REPLACEMENTS):
        yield Case(
            kind="run: checkpoints",
            name=f"{name} is {how}",
            make=replaced("cut", name, how),
            commands=(RESUME,),
            end="either",
        )


def linked_folders() -> Iterator[Case]:
    """Folders that are links to folders outside."""
    for source, name in (("cut", "checkpoints"), ("members", "members"), ("table", "model")):
        for target in ("folder", "nothing-there"):

            def make(
                place: Place, source: str = source, name: str = name, target: str = target
            ) -> None:
                link(place.copy(source) / name, place.outside / target)

            yield Case(
                kind="run: links to folders",
                name=f"{name} of {source} is a link to {target}",
                make=make,
                commands=(OPEN if name == "model" else RESUME,),
            )

    yield from linked_inside()


def linked_inside() -> Iterator[Case]:
    """Links one floor down, and where a run is about to begin."""

    def members_inside(place: Place) -> None:
        link(place.copy("members") / "members" / "001", place.outside / "folder" / "001")

    def part(place: Place) -> None:
        link(place.copy("cut") / ".netwright-x.part", place.outside / "folder")

    def part_of_members(place: Place) -> None:
        link(place.copy("members") / "members" / ".netwright-x.part", place.outside / "folder")

    def fresh_lock(place: Place) -> None:
        (place.work / "new").mkdir()
        link(place.work / "new" / ".lock", place.outside / "secret.txt")

    def fresh_part(place: Place) -> None:
        (place.work / "new").mkdir()
        link(place.work / "new" / ".netwright-x.part", place.outside / "folder")

    def part_holding_link(place: Place) -> None:
        part = place.copy("cut") / ".netwright-x.part"
        part.mkdir()
        link(part / "members", place.outside / "folder")

    train = "train mlp table.csv --target y --epochs 1 --no-report --quiet --out new"
    for name, made, command in (
        ("a member is a link", members_inside, RESUME),
        ("a leftover is a link", part, RESUME),
        ("a leftover of members is a link", part_of_members, RESUME),
        ("a leftover holds a link", part_holding_link, RESUME),
        ("a new folder holds .lock as a link", fresh_lock, train),
        ("a new folder holds a leftover as a link", fresh_part, train),
    ):
        yield Case(
            kind="run: links to folders",
            name=name,
            make=_with_table(made),
            commands=(command,),
            end="either",
        )


def _with_table(make: Callable[[Place], None]) -> Callable[[Place], None]:
    def both(place: Place) -> None:
        place.copy("table.csv", "table.csv")
        make(place)

    return both


def harmless() -> Iterator[Case]:
    """What looks odd and is right: other names beside, links of the user above the folder."""

    def beside(place: Place) -> None:
        run = place.copy("table")
        link(run / "note", place.outside / "secret.txt")
        for where in (run, run / "model", run / "checkpoints"):
            (where / "more.txt").write_text("of the user")

    def above(place: Place) -> None:
        place.copy("table", to="real")
        link(place.work / "run", "real")

    def hidden(place: Place) -> None:
        run = place.copy("table")
        (run / f".netwright-{CONTROL.replace('/', '')}.part").write_text("x")

    def named(place: Place) -> None:
        place.copy("table", to=f"run{CONTROL}")

    for name, make, commands in (
        ("links and notes beside what is read", beside, (OPEN, RESUME)),
        ("the run itself is a link of the user", above, (OPEN, RESUME)),
        ("a leftover with escape codes in its name", hidden, (OPEN, RESUME)),
        ("a run whose name has escape codes", named, (f"evaluate 'run{CONTROL}'",)),
    ):
        yield Case(kind="run: harmless", name=name, make=make, commands=commands, end="harmless")


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from replaced_files()
    yield from linked_folders()
    yield from harmless()
