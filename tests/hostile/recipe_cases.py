"""Recipes: YAML that would run, grow or never end, and settings that point elsewhere."""

from collections.abc import Callable, Iterator

from tests.hostile.case import Case, End, Place
from tests.hostile.edits import CONTROL, ESCAPE, GARBAGE, fifo, folder, link, write

TYPED = "train -c r.yaml --no-report --quiet"
DATA = "data: {name: table, path: table.csv, target: [y]}\n"
MODEL = "model: {name: mlp, hidden: [4]}\n"
TRAIN = "train: {epochs: 1}\n"
WHOLE = MODEL + DATA + TRAIN
LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{one}: &a{one} [*a{one - 1}, *a{one - 1}]\n" for one in range(1, 40)
)

YAML: dict[str, tuple[str | bytes, End]] = {
    "a tag that runs a command": (
        "seed: !!python/object/apply:os.system ['touch ../outside/ran']\n",
        "refused",
    ),
    "a tag that makes an object": ("model: !!python/object:os.stat_result {}\n", "refused"),
    "a tag that names a module": ("model: !!python/module:subprocess\n", "refused"),
    "a tag of its own": ("model: !owned {name: mlp}\n", "refused"),
    "a tag of escape codes": (f"model: !<{CONTROL}> x\n".encode(), "refused"),
    "binary data": ("seed: !!binary aGVsbG8=\n", "refused"),
    "aliases that double 40 times": (LAUGHS, "refused"),
    "an alias to itself": ("model: &a [*a]\n", "refused"),
    "a merge of mappings": ("model: &m {name: mlp}\ntrain: {<<: *m}\n", "refused"),
    "10,000 lists in each other": ("model: " + "[" * 10_000 + "]" * 10_000, "refused"),
    "10,000 mappings in each other": ("{a: " * 10_000 + "1" + "}" * 10_000, "refused"),
    "10,000 levels of indentation": (
        "".join(f"{' ' * one}a:\n" for one in range(1_300)),
        "refused",
    ),
    "a sexagesimal number": (WHOLE + "seed: 1:30\n", "either"),
    "a sexagesimal number of 400,000 parts": (f"seed: 1{':59' * 300_000}\n", "refused"),
    "a sexagesimal float": (f"seed: 1{':59' * 300_000}.5\n", "refused"),
    "a number of 900,000 digits": (f"seed: {'9' * 900_000}\n", "refused"),
    "a hexadecimal number of 900,000 digits": (f"seed: 0x{'f' * 900_000}\n", "refused"),
    "a number of infinity": (f"{MODEL}{DATA}train: {{epochs: 1, lr: .inf}}\n", "refused"),
    "a number that is none": (f"{MODEL}{DATA}train: {{epochs: 1, lr: .nan}}\n", "refused"),
    "a date that is none": ("seed: 2024-99-99\n", "refused"),
    "a date as a key": ("2024-01-01: 1\n", "refused"),
    "a list as a key": ("? [a]\n: 1\n", "refused"),
    "a key twice": (WHOLE + MODEL, "refused"),
    "two documents": (f"{WHOLE}---\n{WHOLE}", "refused"),
    "over a million bytes": (b"# x\n" * 300_000, "refused"),
    "nothing in it": (b"", "refused"),
    "garbage": (GARBAGE, "refused"),
    "NUL bytes": (bytes(100), "refused"),
    "invalid UTF-8": (b"model: \xff\n", "refused"),
    "UTF-16": (WHOLE.encode("utf-16"), "refused"),
    "escape codes as a key": ('"\\e]0;owned\\a": 1\n', "refused"),
    "raw escape codes": (f"model: {ESCAPE}\n".encode(), "refused"),
    "escape codes as a model": (f'model: {{name: "\\e]0;owned\\a"}}\n{DATA}{TRAIN}', "refused"),
    "escape codes as a value": (f'{MODEL}{DATA}train: {{optimizer: "\\e[2J"}}\n', "refused"),
    "text turned around as a name": ("model: {name: \u202eplm}\n".encode(), "refused"),
    "a line end in a name": ('model: {name: "mlp\\nerror: fine"}\n', "refused"),
    "a list instead of sections": ("- 1\n- 2\n", "refused"),
    "a section that is a text": (f"model: mlp\n{DATA}train: all\n", "refused"),
    "sections of null": ("model: null\ndata: null\ntrain: null\n", "either"),
}
SETTINGS: dict[str, tuple[str, End]] = {
    "data.path is a device": (
        MODEL + "data: {name: table, path: /dev/zero, target: [y]}\n",
        "refused",
    ),
    "data.path is a link to a device": (
        MODEL + "data: {name: table, path: zero.csv, target: [y]}\n",
        "refused",
    ),
    "data.path is a pipe": (
        MODEL + "data: {name: table, path: pipe.csv, target: [y]}\n",
        "refused",
    ),
    "data.path is a folder": (MODEL + "data: {name: table, path: sub, target: [y]}\n", "refused"),
    "data.path has a NUL": (
        MODEL + 'data: {name: table, path: "a\\0b.csv", target: [y]}\n',
        "refused",
    ),
    "data.path is very long": (
        MODEL + f"data: {{name: table, path: {'x' * 5_000}.csv, target: [y]}}\n",
        "refused",
    ),
    "data.path is an address": (
        MODEL + "data: {name: table, path: 'http://127.0.0.1:1/x.csv', target: [y]}\n",
        "refused",
    ),
    "images at a device": (
        "model: {name: cnn}\ndata: {name: images, path: /dev/zero}\n",
        "refused",
    ),
    "a text at a device": ("model: {name: lstm}\ndata: {name: text, path: /dev/zero}\n", "refused"),
    "a text at a pipe": ("model: {name: lstm}\ndata: {name: text, path: pipe.csv}\n", "refused"),
    "from a device": (WHOLE + "from: /dev/zero\n", "refused"),
    "from a pipe": (WHOLE + "from: pipe.csv\n", "refused"),
    "a model by a path": ("model: {name: '../../x'}\n" + DATA, "refused"),
    "a model by a module": ("model: {name: 'os:system'}\n" + DATA, "refused"),
    "data by a module": (MODEL + "data: {name: 'subprocess:run'}\n", "refused"),
    "an unknown section": (WHOLE + "hooks: {after: 'touch owned'}\n", "refused"),
    "an unknown setting": (MODEL + DATA + "train: {epochs: 1, owned: 1}\n", "refused"),
    "hidden of 10^9": ("model: {name: mlp, hidden: [1000000000, 1000000000]}\n" + DATA, "refused"),
    "a target that is not there": (
        MODEL + f"data: {{name: table, path: table.csv, target: ['{'x' * 300}']}}\n",
        "refused",
    ),
    "a batch of 10^12": (
        MODEL + DATA + "train: {epochs: 1, batch_size: 1000000000000}\n",
        "either",
    ),
    "no epochs": (MODEL + DATA + "train: {epochs: 0}\n", "refused"),
    "an encoding that is code": (
        MODEL + "data: {name: table, path: table.csv, target: [y], encoding: 'unicode_escape'}\n",
        "either",
    ),
    "an encoding with a NUL": (
        MODEL + 'data: {name: table, path: table.csv, target: [y], encoding: "a\\0"}\n',
        "refused",
    ),
    "10^9 rows to make": ("model: {name: mlp}\ndata: {name: moons, n: 1000000000000}\n", "refused"),
    "a format of the future": (WHOLE + "format: 99\n", "refused"),
    "workers without end": (MODEL + DATA + "train: {epochs: 1, workers: 100000000}\n", "either"),
}


def _recipe(content: str | bytes) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        place.copy("table.csv", "table.csv")
        write(place.work / "r.yaml", content)
        link(place.work / "zero.csv", "/dev/zero")
        fifo(place.work / "pipe.csv")
        folder(place.work / "sub")

    return make


def recipes() -> Iterator[Case]:
    """Recipes to train by."""
    for name, (content, end) in YAML.items():
        yield Case(
            kind="recipes: YAML",
            name=f"a recipe with {name}",
            make=_recipe(content),
            commands=(TYPED,),
            end=end,
        )
    for name, (text, end) in SETTINGS.items():
        yield Case(
            kind="recipes: settings",
            name=f"a recipe, {name}",
            make=_recipe(text),
            commands=(TYPED,),
            end=end,
        )


def odd_files() -> Iterator[Case]:
    """What is no file, where a recipe is asked for; the same as the plan of a run and a search."""

    def nothing(place: Place) -> None:
        _recipe(WHOLE)(place)
        link(place.work / "self.yaml", "self.yaml")

    for name in ("zero.csv", "pipe.csv", "sub", "self.yaml", "/dev/zero", "x" * 5_000):
        yield Case(
            kind="recipes: odd files",
            name=f"a recipe at {name[:40]}",
            make=nothing,
            commands=(f"train -c {name}", f"search -c {name}", f"compare mlp {name} --seeds 2"),
            end="refused",
        )


def outputs() -> Iterator[Case]:
    """Where results go: what is there is not written over."""

    def occupied(place: Place) -> None:
        _recipe(WHOLE)(place)
        link(place.work / "gone", place.outside / "nothing-there")
        write(place.work / "file", "mine")

    for name, out in (
        ("a file", "file"),
        ("a folder that is not empty", "sub"),
        ("a device", "/dev/null"),
        ("below a device", "/dev/null/x"),
        ("below a file", "file/x"),
        ("a name that is too long", "y" * 300),
        ("the folder itself", "."),
    ):
        yield Case(
            kind="recipes: outputs",
            name=f"--out is {name}",
            make=occupied,
            commands=(f"train -c r.yaml --no-report --quiet --out {out}",),
        )

    def answers(place: Place) -> None:
        place.copy("table")
        place.copy("table.csv", "table.csv")

    for name, command in (
        ("answers into a device", "predict run table.csv --out /dev/full"),
        ("answers into a folder", "predict run table.csv --out run"),
        ("a page into a folder", "inspect run curves --save run"),
        ("a picture into a full device", "inspect run curves --save /dev/full"),
    ):
        yield Case(kind="recipes: outputs", name=name, make=answers, commands=(command,))


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from recipes()
    yield from odd_files()
    yield from outputs()
