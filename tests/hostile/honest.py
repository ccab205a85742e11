"""What honest people left: small data, small runs and searches on it, to be copied and spoilt."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from netwright.recipes.fitting import training
from netwright.recipes.model_search import kept_fits
from netwright.recipes.model_search.kept_fits import KeptFits
from tests.hostile.jail import run_jailed

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "saw", "dog")
SMALL = "--target y --set model.hidden=4 --quiet --no-report"
RUNS = {
    "table": f"train mlp table.csv --epochs 1 {SMALL}",
    "cut": f"train mlp table.csv --epochs 3 --max-steps 3 --set train.save_steps=1 {SMALL}",
    "images": "train cnn photos --epochs 1 --set model.channels=4 --set model.hidden=4 "
    "--quiet --no-report",
    "text": "train gpt book.txt --epochs 1 --set data.tokenizer=bpe --set data.vocab_size=270 "
    "--set data.window=8 --set data.stride=8 --set model.width=8 --set model.heads=2 "
    "--set model.layers=1 --quiet --no-report",
    "reviews": "train lstm reviews.tsv --text text --target label --epochs 1 "
    "--set model.hidden=4 --quiet --no-report",
    "members": "train bagging table.csv --target y --epochs 1 --set model.members=2 "
    "--quiet --no-report",
    "perceptron": "train perceptron table.csv --target y --quiet --no-report",
}
SEARCH = "search mlp table.csv --target y --trials 1 --epochs 1 --space train.lr=0.1|0.2 --quiet"
SEARCHES = {"search": SEARCH, "database": f"{SEARCH} --storage sqlite"}
RACE = "search table.csv --target y --models softmax,decision-tree --folds 2 --quiet --out raced"


def make_honest(folder: Path) -> None:
    """Fill an empty folder with data, runs and searches."""
    write_data(folder)
    for name, command in {**RUNS, **SEARCHES}.items():
        _train(folder, f"{command} --out {name}", _keep_members if name == "members" else None)
    for name in ("model", "results.json"):  # as a run that was killed after its second member
        _take_away(folder / "members" / name)
    _train(folder, RACE, _keep_fits)
    (folder / "searches/models-table-csv-001").rename(folder / "race")
    for name in ("searches", "raced"):
        shutil.rmtree(folder / name)
    shutil.rmtree(folder / "race/decision-tree-1")  # as one that was killed in its last fit
    (folder / "home").rename(folder / "done")


def write_data(folder: Path) -> None:
    """A table, a book, reviews and photos."""
    draw = random.Random(0)
    rows = [f"{draw.gauss(0, 1):.3f},{draw.gauss(0, 1):.3f},{colour}" for colour in 20 * COLOURS]
    lines = [f"{row},{'no' if row[0] == '-' else 'yes'}" for row in rows]
    (folder / "table.csv").write_text("\n".join(["a,b,colour,y", *lines, ""]))
    (folder / "book.txt").write_text(" ".join(draw.choices(WORDS, k=600)))
    reviews = [f"{' '.join(draw.choices(WORDS, k=5))}\t{one % 2}" for one in range(40)]
    (folder / "reviews.tsv").write_text("\n".join(["text\tlabel", *reviews, ""]))
    for name, shade in (("dark", 40), ("light", 200)):
        (folder / "photos" / name).mkdir(parents=True)
        for number in range(8):
            image = Image.new("RGB", (8, 8), (shade, shade + number, shade - number))
            image.save(folder / "photos" / name / f"{number}.png")


COLOURS = ["red", "green", "blue"]


def _train(folder: Path, command: str, before: Callable[[], None] | None) -> None:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    outcome = run_jailed(
        command.split(),
        folder=folder,
        environment={"HOME": str(home), "TERM": "dumb"},
        before=before,
    )
    if outcome.code != 0:
        raise RuntimeError(f"{command}: {outcome.code}\n{outcome.output.decode()}")


def _keep_members() -> None:
    vars(training)["delete_member_checkpoints"] = lambda *_, **__: None


def _keep_fits() -> None:
    vars(kept_fits)["KeptFits"] = _Kept


class _Kept(KeptFits):
    def remove(self) -> None:
        """Leave everything, as a search that was killed does."""


def _take_away(path: Path) -> None:
    if path.is_dir():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    else:
        path.unlink()
