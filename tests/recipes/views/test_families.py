"""Every view on every family of models that it applies to, from a saved run; a sentence elsewhere.

A cross says that the family has the view. The table is what a reader may rely on.
"""

import re
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.subject import Subject
from tests.data.images.pair_pictures import write_pairs
from tests.repetition import slow_but

TINY: dict[str, Any] = {"hidden": 4, "epochs": 1}
FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "neuron": ("perceptron", "moons", {}),
    "linear": ("softmax", "iris", {"epochs": 2}),
    "closed": ("ridge", "diabetes", {}),
    "mlp": ("mlp", "moons", {"hidden": (6, 6), "epochs": 3}),
    "reals": ("mlp", "diabetes", {"hidden": (6,), "epochs": 3}),
    "cnn": ("cnn", "digits", {"channels": (4,), "hidden": (), "augment": ("crop=1",), "epochs": 1}),
    "resnet": ("resnet20", "digits", {"width": 2, "epochs": 1, "batch_size": 256}),
    "masks": ("unet", "pairs", {"width": 2, "depth": 1, "epochs": 1}),
    "boxes": (
        "detr",
        "shapes",
        {"n": 60, "side": 16, "width": 8, "heads": 2, "layers": 1, "queries": 3, "epochs": 1},
    ),
    "letters": ("lstm", "words.txt", {**TINY, "embedding": 3, "window": 6}),
    "texts": ("gru", "reviews.tsv", {**TINY, "text": "words", "target": "liked"}),
    "series": ("elman", "adding", {**TINY, "length": 8, "n": 60}),
    "scan": ("lru", "words.txt", {**TINY, "embedding": 3, "window": 6}),
    "pairs": ("encoder-decoder", "reverse", {**TINY, "n": 60, "length": 4}),
    "gpt": ("gpt", "words.txt", {"layers": 1, "heads": 2, "width": 8, "window": 6, "epochs": 1}),
    "memory": ("hopfield", "digits", {"patterns": 4}),
    "rbm": ("rbm", "digits", {"epochs": 1}),
    "trees": ("random-forest", "iris", {}),
    "kernel": ("kernel-regression", "line", {}),
    "several": ("bagging", "moons", {"members": 2, "epochs": 1}),
}
# Where the usual size is for people who wait a few seconds.
QUICK: dict[str, dict[str, Any]] = {
    "curvature": {"rows": 4, "steps": 4},
    "landscape": {"cells": 5, "rows": 8},
    "race": {"optimizers": "sgd,adam", "steps": 2, "rows": 4},
}


def make_run(family: str, desk: Path) -> nw.Run:
    """A saved run of the family, opened again."""
    (desk / "words.txt").write_text("the quick brown fox jumps over the lazy dog " * 10)
    rows = [f"{'good ' * (1 + row % 3)}film\tyes\nbad\tno" for row in range(15)]
    (desk / "reviews.tsv").write_text("words\tliked\n" + "\n".join(rows) + "\n")
    write_pairs(desk / "pairs", range(8), shape=(8, 8))
    model, data, settings = FAMILIES[family]
    nw.fit(model, data, out=desk / "run", quiet=True, **settings)
    return nw.open_run(desk / "run")


TABLE = """
                    neuron linear closed mlp reals cnn resnet masks boxes letters texts series scan pairs gpt memory rbm trees kernel several
summary             x      x      x      x   x     x   x      x     x     x       x     x      x    x     x   x      x   x     x      x
curves              x      x      x      x   x     x   x      x     x     x       x     x      x    x     x   x      x   x     x      .
gradient-norms      .      x      .      x   x     x   x      .     x     x       .     x      x    x     x   .      .   .     .      .
confusion           x      x      .      x   .     x   x      .     .     .       x     .      .    .     .   x      x   x     .      x
calibration         x      x      .      x   .     x   x      .     .     .       x     .      .    .     .   x      x   x     .      x
threshold-curves    x      x      .      x   .     x   x      .     .     .       x     .      .    .     .   x      x   x     .      x
permutation-importance x   x      x      x   x     .   .      .     .     .       .     .      .    .     .   .      .   x     .      x
partial-dependence  x      x      x      x   x     .   .      .     .     .       .     .      .    .     .   .      .   x     x      x
lift                x      .      .      x   .     .   .      .     .     .       x     .      .    .     .   .      .   .     .      x
decision-regions    x      x      .      x   .     .   .      .     .     .       .     .      .    .     .   .      .   x     .      x
fitted-curve        .      .      .      .   .     .   .      .     .     .       .     .      .    .     .   .      .   .     x      .
prediction-surface  .      .      x      .   x     .   .      .     .     .       .     .      .    .     .   .      .   .     .      .
residuals           .      .      x      .   x     .   .      .     .     .       .     x      .    .     .   .      .   .     x      .
wrong-examples      x      x      .      x   .     x   x      .     .     .       x     .      .    .     .   x      x   x     .      x
worst-errors        .      .      x      .   x     .   .      .     .     .       .     x      .    .     .   .      .   .     x      .
segmentation        .      .      .      .   .     .   .      x     .     .       .     .      .    .     .   .      .   .     .      .
predicted-boxes     .      .      .      .   .     .   .      .     x     .       .     .      .    .     .   .      .   .     .      .
next-tokens         .      .      .      .   .     .   .      .     .     x       .     .      x    .     x   .      .   .     .      .
state-norms         .      .      .      .   .     .   .      .     .     x       x     x      x    .     .   .      .   .     .      .
attention           .      .      .      .   .     .   .      .     .     .       .     .      .    .     x   .      .   .     .      .
alignment           .      .      .      .   .     .   .      .     .     .       .     .      .    x     .   .      .   .     .      .
filters             .      .      .      .   .     x   x      x     x     .       .     .      .    .     .   .      x   .     .      .
feature-maps        .      .      .      .   .     x   x      x     x     .       .     .      .    .     .   .      .   .     .      .
contact-sheet       .      .      .      .   .     x   .      .     .     .       .     .      .    .     .   .      .   .     .      .
class-balance       x      x      .      x   .     x   x      .     .     .       x     .      .    .     .   x      x   x     .      x
target-spread       .      .      x      .   x     .   .      .     .     .       .     x      .    .     .   .      .   .     x      .
ensemble-members    .      .      .      .   .     .   .      .     .     .       .     .      .    .     .   .      .   .     .      x
feature-importance  .      .      .      .   .     .   .      .     .     .       .     .      .    .     .   .      .   x     .      .
hyperplane          x      .      .      .   .     .   .      .     .     .       .     .      .    .     .   .      .   .     .      .
recalled-patterns   .      .      .      .   .     .   .      .     .     .       .     .      .    .     .   x      .   .     .      .
energy-descent      .      .      .      .   .     .   .      .     .     .       .     .      .    .     .   x      .   .     .      .
backprop            x      x      x      x   x     x   x      x     x     x       x     x      x    x     x   .      x   .     .      x
units               x      x      x      x   x     x   x      .     .     .       x     x      .    .     .   .      x   .     .      .
activations         x      x      x      x   x     x   x      x     x     x       x     x      x    x     x   .      x   .     .      .
gradient-flow       .      x      .      x   x     x   x      x     x     x       x     x      x    x     x   .      .   .     .      .
weight-spectra      .      x      .      x   x     x   x      x     x     x       x     x      x    x     x   .      x   .     .      .
linear-regions      .      .      .      x   x     x   x      x     .     .       .     .      .    .     .   .      .   .     .      .
saliency            x      x      x      x   x     x   x      x     x     x       x     x      x    x     x   .      x   .     x      x
occlusion           x      x      x      x   x     x   x      x     x     x       x     x      x    x     x   x      x   x     x      x
embedding-map       x      x      x      x   x     x   x      x     .     x       x     x      x    x     x   .      x   .     .      .
landscape           x      x      x      x   x     x   x      x     x     x       x     x      x    x     x   .      x   .     .      .
curvature           .      x      .      x   x     x   x      x     x     x       x     x      x    x     x   .      .   .     .      .
race                .      x      .      x   x     x   x      x     x     x       x     x      x    x     x   .      .   .     .      .
"""  # noqa: E501 - a table
ROWS = {line.split()[0]: line.split()[1:] for line in TABLE.strip().splitlines()[1:]}
# Of data that these families have not, of three models that tell of themselves, and of a profile.
ELSEWHERE = {"profile", "label-errors", "forecast", "weight-path", "noise-band", "residual-density"}
ELSEWHERE |= {"masked-tokens", "marked-spans", "attention-rollout"}  # of BERT and of ViT
ELSEWHERE |= {"similar-words", "words-by-epoch", "word-map", "vector-dimensions"}  # of word2vec


def has(family: str, view: str) -> bool:
    """What the table says."""
    return ROWS[view][list(FAMILIES).index(family)] == "x"


def test_the_table_is_of_all_views_and_families() -> None:
    assert TABLE.split()[: len(FAMILIES)] == list(FAMILIES)
    assert set(ROWS) == set(VIEWS) - ELSEWHERE
    assert all(len(row) == len(FAMILIES) and "x" in row for row in ROWS.values())


# A rule of its own, gradients, none at all, members; all others are slow.
QUICK_FAMILIES = "neuron mlp".split()
# Views of the report that only slow families have.
PECULIAR = {
    "masks": ["segmentation"],
    "boxes": ["predicted-boxes"],
    "gpt": ["next-tokens", "attention"],
    "pairs": ["alignment"],
}


@pytest.mark.parametrize("family", PECULIAR)
def test_a_view_of_the_report_that_only_this_family_has_is_drawn(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = make_run(family, tmp_path)
    subject = Subject(run, *run.data_at_hand())
    for view in PECULIAR[family]:
        entry = VIEWS.load(view)
        assert entry.section is not None
        seen = entry.show(subject, {})
        assert seen.text()
        assert len(seen.image("svg")) > 1000


@pytest.mark.parametrize("family", slow_but(QUICK_FAMILIES, FAMILIES))
def test_a_family_has_the_views_that_the_table_says(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = make_run(family, tmp_path)
    subject = Subject(run, *run.data_at_hand())
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    for view in ROWS:
        entry = VIEWS.load(view)
        if not has(family, view):
            reason = entry.why_not(subject)
            assert reason
            with pytest.raises(ConfigError, match=f"^{re.escape(reason)}$"):
                entry.show(subject, {})
            continue
        seen = entry.show(subject, QUICK.get(view, {}))
        assert seen.text()
        if entry.section is None:  # the others are drawn with the report's own tests
            assert len(seen.image("svg")) > 1000
    after = run.model.state_dict()
    assert all(value.equal(before[name]) for name, value in after.items())
