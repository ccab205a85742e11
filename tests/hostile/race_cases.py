"""What a search over models keeps: its plan and its fits; each a link, garbage or a lie."""

from collections.abc import Callable, Iterator
from itertools import product

import yaml

from tests.hostile.case import Case, End, Place
from tests.hostile.edits import ESCAPE, REPLACEMENTS, link, remove, write
from tests.hostile.search_cases import ODD

AGAIN = "search --resume race --quiet"
FILES = (
    "race.yaml",
    "softmax-0/fit.safetensors",
    "softmax-0/manifest.json",
    "softmax-0",
    ".lock",
)


def _replaced() -> Iterator[Case]:
    """Each file and folder by something else."""
    for name, how in product(FILES, ODD):

        def make(place: Place, name: str = name, how: str = how) -> None:
            path = place.copy("race", to="race") / name
            remove(path)
            REPLACEMENTS[how](path, place)

        yield Case(
            kind="search over models: files",
            name=f"{name} of a search over models is {how}",
            make=make,
            commands=(AGAIN,),
            end="either",
        )


def _plan(*keys: str, to: object) -> Callable[[Place], None]:
    """Another value in the plan."""

    def make(place: Place) -> None:
        path = place.copy("race", to="race") / "race.yaml"
        values = yaml.safe_load(path.read_text())
        inner = values
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to
        write(path, yaml.safe_dump(values))

    return make


def _beside(name: str) -> Callable[[Place], None]:
    """A link beside the fits, which are removed at the end."""

    def make(place: Place) -> None:
        link(place.copy("race", to="race") / name, place.outside / "folder")

    return make


def _single() -> Iterator[Case]:
    made: dict[str, tuple[Callable[[Place], None], End]] = {
        "the models are text": (_plan("models", to="mlp"), "refused"),
        "a model is a path": (_plan("models", to=["../../outside/folder"]), "refused"),
        "a model has escape codes": (_plan("models", to=[ESCAPE]), "refused"),
        "a model is a list": (_plan("models", to=[["mlp"]]), "refused"),
        "the folds are text": (_plan("folds", to="many"), "refused"),
        "10^12 folds": (_plan("folds", to=10**12), "refused"),
        "the time is text": (_plan("max_time", to="soon"), "refused"),
        "the time is negative": (_plan("max_time", to=-1), "refused"),
        "the time is no number": (_plan("max_time", to=float("nan")), "refused"),
        "the data are a list": (_plan("data", to=[1, 2]), "refused"),
        "the recipe is missing": (_plan("recipe", to=None), "refused"),
        "the data are a device": (_plan("recipe", "data", "path", to="/dev/zero"), "refused"),
        "the format is another": (_plan("format", to=99), "refused"),
        "a fit of the other fold is a link": (_beside("decision-tree-1"), "either"),
        "a stranger's folder is a link": (_beside("somewhere"), "either"),
    }
    for name, (make, end) in made.items():
        yield Case(
            kind="search over models: plans",
            name=f"search over models, {name}",
            make=make,
            commands=(AGAIN,),
            end=end,
        )


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from _replaced()
    yield from _single()
