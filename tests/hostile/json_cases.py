"""What the JSON files of a run say: values of other types, values that ask for much, manifests."""

import json
from collections.abc import Callable, Iterator

from tests.hostile.case import Case, End, Place
from tests.hostile.edits import CONTROL, DEEP, ESCAPE, WRONG_TYPES, change_json, seal, write
from tests.hostile.run_cases import NEWEST, OPEN


def wrong_types() -> Iterator[Case]:
    """At each key of each JSON file a value of another type, behind a right manifest."""
    for source, file, command in (
        ("table", "model/config.json", "evaluate"),
        ("table", "model/preprocessor.json", "evaluate"),
        ("table", "results.json", "evaluate"),
        ("text", "model/preprocessor.json", "generate"),
        ("images", "model/preprocessor.json", "evaluate"),
        ("cut", f"{NEWEST}/state.json", "train --no-report --quiet --resume"),
        ("cut", "last.json", "train --no-report --quiet --resume"),
    ):
        for what, wrong in WRONG_TYPES.items():
            yield Case(
                kind="run: JSON of wrong types",
                name=f"{file} of {source}: each value is {what}",
                make=_each_key(source, file, wrong),
                commands=tuple(f"{command} {number}" for number in range(KEYS[source, file])),
                end="either",
            )


# How many keys each of these files has: a case tries them all.
KEYS = {
    ("table", "model/config.json"): 8,
    ("table", "model/preprocessor.json"): 7,
    ("table", "results.json"): 6,
    ("text", "model/preprocessor.json"): 4,
    ("images", "model/preprocessor.json"): 4,
    ("cut", f"{NEWEST}/state.json"): 8,
    ("cut", "last.json"): 2,
}


def _each_key(source: str, file: str, wrong: object) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        keys = list(json.loads((place.honest / source / file).read_text()))
        for number in range(KEYS[source, file]):
            run = place.copy(source, to=str(number))
            change_json(run / file, keys[number], to=wrong)

    return make


def _config(place: Place, *keys: str | int, to: object) -> None:
    change_json(place.copy("table") / "model" / "config.json", *keys, to=to)


def _results(place: Place, *keys: str | int, to: object) -> None:
    change_json(place.copy("table") / "results.json", *keys, to=to)


def _append(name: str, text: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        with (place.copy("table") / name).open("a") as file:
            file.write(text)

    return make


def _write(name: str, text: str | bytes) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        run = place.copy("table")
        write(run / name, text)
        if name.startswith("model/") and name != "model/manifest.json":
            seal(run / "model")

    return make


def single_values() -> Iterator[Case]:
    """Values that ask for much, or are none."""
    row = '{"step": 1, "epoch": 0, "samples": 1, "time": 0, "split": "train", "name": "loss", '
    made: dict[str, tuple[Callable[[Place], None], End]] = {
        "hidden of 60,000 x 60,000": (
            lambda place: _config(place, "settings", "hidden", to=[60_000, 60_000]),
            "refused",
        ),
        "hidden of 10^18": (
            lambda place: _config(place, "settings", "hidden", to=[10**18]),
            "refused",
        ),
        "a million hidden layers": (
            lambda place: _config(place, "settings", "hidden", to=[1] * 1_000_000),
            "refused",
        ),
        "an input of 10^12 features": (
            lambda place: _config(place, "spec", "input_shape", to=[10**12]),
            "refused",
        ),
        "10^12 outputs": (
            lambda place: _config(place, "spec", "num_outputs", to=10**12),
            "refused",
        ),
        "another model": (lambda place: _config(place, "name", to="gpt2-xl"), "refused"),
        "a model by a path": (lambda place: _config(place, "name", to="os:system"), "refused"),
        "a preprocessor by a path": (
            _write("model/preprocessor.json", '{"kind": "os"}'),
            "refused",
        ),
        "classes with escape codes": (
            lambda place: _config(place, "spec", "class_names", to=[ESCAPE, "yes"]),
            "either",
        ),
        "a baseline of NaN": (_write_nan("model/config.json", "baseline"), "refused"),
        "settings of NaN": (_write_nan("model/config.json", "settings"), "refused"),
        "results of NaN": (_write_nan("results.json", "metrics"), "either"),
        "config.json deeply nested behind a right sha256": (
            _write("model/config.json", DEEP),
            "refused",
        ),
        "config.json garbage behind a right sha256": (
            _write("model/config.json", b"\xff\xfe{}"),
            "refused",
        ),
        "config.json is a list behind a right sha256": (
            _write("model/config.json", "[]"),
            "refused",
        ),
        "preprocessor.json is a list behind a right sha256": (
            _write("model/preprocessor.json", "[]"),
            "refused",
        ),
        "a key of config.json comes twice": (
            _write("model/config.json", '{"format": 1, "format": 1}'),
            "refused",
        ),
        "the status has escape codes": (
            lambda place: _results(place, "status", to=ESCAPE),
            "either",
        ),
        "notes have escape codes": (lambda place: _results(place, "notes", to=[ESCAPE]), "either"),
        "a metric has a name of escape codes": (
            lambda place: _results(place, "metrics", to={ESCAPE: 1.0}),
            "either",
        ),
        "a metric is text": (
            lambda place: _results(place, "metrics", to={"loss": ESCAPE}),
            "either",
        ),
        "the baseline's rule has escape codes": (
            lambda place: _results(place, "baseline_rule", to=f"always {ESCAPE}"),
            "either",
        ),
        "a row of metrics that is no object": (_append("metrics.jsonl", "[1, 2]\n"), "either"),
        "a row of metrics deeply nested": (_append("metrics.jsonl", DEEP + "\n"), "either"),
        "a row of metrics is NaN": (_append("metrics.jsonl", row + '"value": NaN}\n'), "either"),
        "a row of metrics has a huge step": (
            _append("metrics.jsonl", row.replace("1", "1" + 400 * "0", 1) + '"value": 1}\n'),
            "either",
        ),
        "a row of metrics has a name of escape codes": (
            _append(
                "metrics.jsonl", row.replace("loss", json.dumps(ESCAPE)[1:-1]) + '"value": 1}\n'
            ),
            "either",
        ),
        "a row of metrics lacks its value": (_append("metrics.jsonl", row[:-2] + "}\n"), "either"),
        "a row of layers is garbage": (_append("layers.jsonl", "\x00\x01\n"), "either"),
        "a row of layers is nested deeply": (_append("layers.jsonl", DEEP + "\n"), "either"),
    }
    for name, (make, end) in made.items():
        command = "inspect run curves --json" if "row of" in name else OPEN
        if name == "notes have escape codes":
            command = "report run --out page.html"
        yield Case(
            kind="run: values of JSON files", name=name, make=make, commands=(command,), end=end
        )


def _write_nan(name: str, key: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        path = place.copy("table") / name
        values = json.loads(path.read_text())
        values[key] = {"loss": float("nan"), "hidden": float("inf")}
        if key == "baseline":
            values[key] = [float("nan"), float("inf")]
        write(path, json.dumps(values))
        if name.startswith("model/"):
            seal(path.parent)

    return make


def manifests() -> Iterator[Case]:
    """Names and sums in a manifest that are none."""

    def manifest(sums: object) -> Callable[[Place], None]:
        def make(place: Place) -> None:
            model = place.copy("table") / "model"
            known = json.loads((model / "manifest.json").read_text())["sha256"]
            values = sums(known) if callable(sums) else sums
            write(model / "manifest.json", json.dumps({"format": 1, "sha256": values}))

        return make

    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    for name in (
        "../../../outside/secret.txt",
        "/etc/passwd",
        "/dev/zero",
        "/dev/full",
        "../config.yaml",
        "..",
        ".",
        "",
        "a/b",
        "\x00",
        "nul\x00byte",
        CONTROL,
        "x" * 5_000,
        "\ud800",
    ):
        yield Case(
            kind="run: manifests",
            name=f"a manifest names {ascii(name)[:40]}",
            make=manifest(lambda known, name=name: {**known, name: empty}),
            commands=(OPEN,),
        )
    for what, change in {
        "no sums": lambda known: {},
        "sums that are no text": lambda known: dict.fromkeys(known, 7),
        "sums that are lists": lambda known: {name: [] for name in known},
        "the first half of each sum": lambda known: {k: v[:32] for k, v in known.items()},
        "empty sums": lambda known: dict.fromkeys(known, ""),
        "sums in capitals": lambda known: {k: v.upper() for k, v in known.items()},
        "a list": list,
        "no weights": lambda known: {k: v for k, v in known.items() if k != "model.safetensors"},
        "no config": lambda known: {k: v for k, v in known.items() if k != "config.json"},
        "a hundred thousand names": lambda known: {
            **known,
            **{f"x{number}": empty for number in range(100_000)},
        },
    }.items():
        yield Case(
            kind="run: manifests",
            name=f"a manifest has {what}",
            make=manifest(change),
            commands=(OPEN,),
        )


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from wrong_types()
    yield from single_values()
    yield from manifests()
