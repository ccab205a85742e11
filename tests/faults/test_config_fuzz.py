"""T21: a thousand recipes, half of them broken, and YAML made to harm; none may crash the command.

Each recipe is written to a file, read, checked and put together with its data, as the command does
(every tenth is typed as `netwright train -c FILE`): it is valid (exit code 0), or refused (exit
code 2) in one sentence; nothing is created or run, and none takes long. The tests read a quarter.
"""

import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from netwright.apps.cli import main
from netwright.apps.cli.typed_recipe import normal_form
from netwright.core import config
from netwright.core.errors import NetwrightError
from netwright.recipes.fitting import fit
from netwright.recipes.plan import recipe_file
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.plan.recipe_file import read_recipe_file
from netwright.recipes.plan.sources import load_configured
from tests.faults.scenario import Figures, Scenario
from tests.repetition import slow_but

RECIPES = 1000
LONGEST = 1.0  # seconds of work a recipe

# Values that fit no setting, or one by luck.
BAD: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(
            float("nan"),
            float("inf"),
            -float("inf"),
            -1,
            0,
            -0.5,
            1.5,
            2**63,
            10**40,
            1e308,
            1e-320,
        ),
        *(None, True, "", "nan", "-1", "mlp", "os.system", "x" * 2000, "\0", "${HOME}", "ünïcode"),
        *([], [[1]], [None], {}, {"name": "mlp"}, {"a": {"b": [1]}}),
    ]
)
# Setting -> values that are right by themselves; together they may contradict each other.
GOOD: dict[str, dict[str, list[Any]]] = {
    "model": {
        "hidden": [[8], [4, 4], "3,5", 7],
        "activation": ["relu", "tanh"],
        "dropout": [0, 0.5],
        "batch_norm": [True],
        "initializer": ["orthogonal", "zeros"],
    },
    "data": {
        "n": [3, 20, 60],
        "noise": [0, 0.3, 1e3],
        "val_size": [0, 0.4, 0.9],
        "test_size": [0, 0.5],
        "seed": [1],
    },
    "train": {
        "epochs": [1, 10**18],
        "batch_size": [1, 16, 512],
        "optimizer": ["sgd", "adam", "lbfgs"],
        "lr": [1e-3, "1e-3", 10.0],
        "schedule": ["cosine"],
        "warmup": [0, 10],
        "accumulate": [1, 4],
        "precision": ["fp32", "bf16-mixed", "fp16-mixed"],
        "patience": [0, 3],
        "monitor": ["val/loss", "train/accuracy", "val/rmse"],
        "class_weight": ["balanced"],
        "optimizer_options": [{"betas": [0.9, 0.99]}, {"momentum": 0.9}, {"eps": "nan"}],
        "device": ["cpu", "cuda:77"],
    },
}
NAMES = {"model": ["mlp", "softmax", "ridge"], "data": ["moons", "xor", "spirals"]}
KEYS = st.sampled_from(["nmae", "hiden", "epoch", "_target_", "lr ", "", "a.b", "Model", "x" * 300])
SECTIONS = st.sampled_from(["model", "data", "train"])


@st.composite
def recipes(draw: st.DrawFn) -> dict[str, Any]:
    """A recipe of good values, in which up to three things are then broken."""
    values: dict[str, Any] = {"seed": draw(st.integers(0, 10**9))}
    for section, known in GOOD.items():
        chosen = draw(st.lists(st.sampled_from(sorted(known)), max_size=3, unique=True))
        values[section] = {key: draw(st.sampled_from(known[key])) for key in chosen}
        if section in NAMES:
            values[section]["name"] = draw(st.sampled_from(NAMES[section]))
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2, 3]))):
        _break(draw, values)
    return values


def _break(draw: st.DrawFn, values: dict[str, Any]) -> None:
    """Make one thing wrong: a value, a key, a name, a section, or the whole."""
    way, section = draw(st.integers(0, 4)), draw(SECTIONS)
    if way == 0:
        values[draw(st.one_of(SECTIONS, KEYS, st.sampled_from(["seed", "format"])))] = draw(BAD)
    elif isinstance(values.get(section), dict):
        known = st.sampled_from(["name", *GOOD[section]])
        values[section][draw(KEYS if way == 1 else known)] = draw(BAD)


MARK = "canary"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{after}: &{after} [*{before}, *{before}, *{before}, *{before}, *{before}, *{before}]"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)
HARMFUL = {
    "bomb": BOMB,
    "merge": "a: &a {x: 1}\nmodel: {<<: *a, name: mlp}",
    "self": "model: &a [*a]",
    "object": f"model: !!python/object/apply:os.mkdir [{MARK}]",
    "new": f"model: !!python/object/new:os.mkdir [[{MARK}]]",
    "name": "model: !!python/name:os.system",
    "module": "model: !!python/module:os",
    "binary": "model: !!binary //8=",
    "local tag": f"model: !run mkdir {MARK}",
    "nested lists": "model: " + "[" * 10_000,
    "nested maps": "model: " + "{a: " * 10_000,
    "nested blocks": "\n".join(" " * depth + "a:" for depth in range(1_000)),
    "key twice": "model: {name: mlp, name: ridge}",
    "section twice": "model: mlp\nmodel: ridge",
    "number as key": "1: 2",
    "list as key": "? [a]\n: 1",
    "two documents": "model: mlp\n---\nmodel: ridge",
    "huge number": "seed: " + "9" * 5000,
    "base 60": "data: xor\nseed: 1:2:3:4:5:6:7",
    "date": "seed: 2026-13-45",
    "no text": "\x00\x01",
    "a tab": "model:\n\tname: mlp",
    "a list": "- model",
    "nothing": "",
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the command did with a recipe."""

    code: int  # -1 for a crash
    said: str
    seconds: float


def typed(file: str) -> Answer:
    """The recipe as a person types it: `netwright train -c FILE`."""
    out, err, started = StringIO(), StringIO(), time.process_time()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main.run(["train", "-c", file, "--print-config"])
    except Exception as error:  # it would be shown as a traceback
        return Answer(code=-1, said=repr(error), seconds=time.process_time() - started)
    return Answer(code=code, said=err.getvalue(), seconds=time.process_time() - started)


def put_together(file: str) -> Answer:
    """What the command does with a recipe, without the cost of typing: read, check, try a batch."""
    started = time.process_time()
    try:
        recipe = parse_recipe(normal_form(read_recipe_file(Path(file))))
        if is_moderate(recipe.to_mapping()["model"]):
            fit.put_together(recipe, load_configured(recipe))
        code, said = 0, ""
    except NetwrightError as error:
        code, said = error.exit_code, f"error: {error}\n"
    except Exception as error:
        code, said = -1, repr(error)
    return Answer(code=code, said=said, seconds=time.process_time() - started)


def holds(answer: Answer) -> bool:
    """Whether a recipe was valid, or refused in one sentence; soon in any case."""
    sentence = answer.said.startswith("error: ") and answer.said.count("\n") == 1
    return (answer.code == 0 or (answer.code == 2 and sentence)) and answer.seconds <= LONGEST


def is_moderate(values: Any) -> bool:
    """Whether no width in a model's settings asks for more memory than a test should take."""
    return all(width <= 1000 for width in values.get("hidden", []))


def answers(folder: Path, count: int) -> Iterator[Answer]:
    """`count` drawn recipes, every tenth of them typed; then the harmful ones, all typed."""
    file = folder / "recipe.yaml"
    drawn: list[Answer] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(recipes())
    def read_one(values: dict[str, Any]) -> None:
        file.write_text(yaml.safe_dump(values, allow_unicode=True), encoding="utf-8")
        drawn.append((put_together if len(drawn) % 10 else typed)(str(file)))

    file.write_text("model: mlp\ndata: xor", encoding="utf-8")
    for way in (typed, put_together):
        way(str(file))  # imports take time
    read_one()
    yield from drawn
    for text in HARMFUL.values():
        file.write_text(text, encoding="utf-8")
        yield typed(str(file))
    yield typed("/dev/zero")


def measure(folder: Path, count: int) -> Figures:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = list(answers(folder, count))
    left = [path.name for path in folder.iterdir() if path.name != "recipe.yaml"]
    return Figures(
        n=len(found),
        passed=sum(map(holds, found)) - len(left),
        counts={
            "valid": sum(answer.code == 0 for answer in found),
            "refused": sum(answer.code == 2 for answer in found),
            "crashes": sum(answer.code == -1 for answer in found),
            "left behind": len(left),
            "worst s": round(max(answer.seconds for answer in found), 3),
        },
    )


def scenario(recipes: int) -> Scenario:
    return Scenario(
        code="T21",
        title="recipes that are broken or made to harm",
        measure=partial(measure, count=recipes),
        least={"valid": 0.2 * recipes, "refused": 0.2 * recipes},
    )


SCENARIO = scenario(RECIPES)


@pytest.mark.parametrize(
    "count", slow_but([RECIPES // 20], [RECIPES // 20, RECIPES // 4]), ids=lambda count: f"{count}"
)
def test_every_recipe_is_valid_or_refused_in_one_sentence(tmp_path: Path, count: int) -> None:
    part = scenario(count)
    figures = part.measure(tmp_path)
    assert part.is_green(figures), figures
    assert figures.n == count + len(HARMFUL) + 1
    assert figures.counts["crashes"] == figures.counts["left behind"] == 0


@pytest.mark.slow
def test_planted_bug_of_a_loader_that_makes_objects_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipe_file, "_PlainLoader", yaml.UnsafeLoader)
    figures = measure(tmp_path, count=10)
    assert figures.counts["left behind"] == 1  # the canary
    assert figures.passed < figures.n


@pytest.mark.slow
def test_planted_bug_of_a_value_that_nobody_checks_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "_checked", lambda name, value, hint: value)
    assert measure(tmp_path, count=50).counts["crashes"] > 0
