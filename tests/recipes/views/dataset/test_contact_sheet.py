"""The contact sheet of a run: augmented images, where anything in it saw them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netwright as nw


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def pictures() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return rng.random((40, 1, 6, 6)).astype("float32"), np.arange(40) % 2


@pytest.mark.usefixtures("undrawn")
def test_augmented_images_are_shown_as_examples(tmp_path: Path, pictures: Any) -> None:
    run = nw.fit("softmax", pictures, epochs=1, augment=("flip", "crop=2"), quiet=True)
    sheet = run.views()["contact-sheet"].to_json()
    assert [strip["name"] for strip in sheet["strips"]] == ["flip", "crop=2", "all together"]
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    learning, _, rest = page.partition(">Predictions</h2>")
    assert "<h3>Augmentations</h3>" in learning
    assert "<h3>Augmentations</h3>" not in rest
    bare = run.report(tmp_path / "bare.html", examples=False).read_text(encoding="utf-8")
    assert "<h3>Augmentations</h3>" not in bare


@pytest.mark.parametrize(("of", "shown"), [("softmax", True), ("decision-tree", False)])
def test_members_that_learn_by_a_rule_of_their_own_see_no_changed_images(
    of: str, shown: bool, pictures: Any
) -> None:
    run = nw.fit("bagging", pictures, of=of, members=1, epochs=1, augment=("flip",), quiet=True)
    assert ("contact-sheet" in run.views()) is shown
