"""Members kept in the run folder: taken up again bit for bit, not if damaged or of other rows."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data
from netwright.models.baselines.trees import DecisionTreeConfig
from netwright.models.ensembles.ensemble import Member
from netwright.recipes.fitting.member_checkpoints import (
    MemberCheckpoints,
    delete_member_checkpoints,
)
from netwright.train.settings import TrainConfig
from tests.odd_files import is_untouched, outside_of, refusal

PLAIN = TrainConfig()


@pytest.fixture(scope="module")
def iris() -> Data:
    source = SOURCES.load("iris")
    return source.load(source.config())


def tree(data: Data) -> Member:
    return Member("decision-tree", DecisionTreeConfig(max_depth=2), data.spec)


def taught(data: Data) -> Member:
    member = tree(data)
    list(member.model.fit_steps(data.train, 0))  # type: ignore[operator]
    return member


def test_what_is_kept_is_taken_up_again(iris: Data, tmp_path: Path) -> None:
    member, empty = taught(iris), tree(iris)
    MemberCheckpoints(tmp_path, iris, PLAIN, ()).keep(3, member)
    kept = MemberCheckpoints(tmp_path, iris, PLAIN, ())
    assert kept.restore(3, empty)
    assert torch.equal(empty(iris.train.inputs), member(iris.train.inputs))
    assert not kept.restore(2, empty)


def test_a_damaged_member_is_named_and_learns_again(
    iris: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = MemberCheckpoints(tmp_path, iris, PLAIN, ())
    kept.keep(1, taught(iris))
    file = tmp_path / "members" / "001" / "member.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert not kept.restore(1, tree(iris))
    said = " ".join(capsys.readouterr().err.split())
    assert "is damaged: its sha256 differs from the manifest: the member is trained again" in said
    kept.keep(1, taught(iris))
    assert kept.restore(1, tree(iris))


def test_other_rows_are_refused_unless_allowed(iris: Data, tmp_path: Path) -> None:
    MemberCheckpoints(tmp_path, iris, PLAIN, ())
    fewer = replace(iris, train=iris.train.take(torch.arange(50)))
    sentence = (
        f"{tmp_path} cannot be resumed exactly: the train split had "
        f"{len(iris.train)} rows, has 50; to resume anyway, allow data"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        MemberCheckpoints(tmp_path, fewer, PLAIN, ())
    MemberCheckpoints(tmp_path, fewer, PLAIN, ("data",))
    MemberCheckpoints(tmp_path, fewer, PLAIN, ())  # these are now the rows


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"max_steps": 2}, "max_steps was not set, is 2"),
        ({"patience": 3}, "patience was not set, is 3"),
        ({"restore_best": False}, "restore_best was not set, is False"),
        ({"on_non_finite": "skip"}, "on_non_finite was stop, is skip"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_other_settings_of_each_member_are_refused_unless_allowed(
    settings: dict[str, Any], sentence: str, iris: Data, tmp_path: Path
) -> None:
    MemberCheckpoints(tmp_path, iris, PLAIN, ())
    (name,), other = settings, TrainConfig(**settings)
    advised = f"{sentence}; to resume anyway, allow {name}"
    with pytest.raises(ConfigError, match=f"cannot be resumed exactly: {advised}$"):
        MemberCheckpoints(tmp_path, iris, other, ())
    MemberCheckpoints(tmp_path, iris, other, (name,))
    MemberCheckpoints(
        tmp_path, iris, replace(PLAIN, max_time=1.0), settings
    )  # of the run, not of each


def test_an_older_run_wrote_its_default_as_true_and_goes_on(iris: Data, tmp_path: Path) -> None:
    MemberCheckpoints(tmp_path, iris, TrainConfig(restore_best=True), ())
    MemberCheckpoints(tmp_path, iris, PLAIN, ())
    with pytest.raises(ConfigError, match="restore_best was not set, is True"):
        MemberCheckpoints(tmp_path, iris, TrainConfig(restore_best=True), ())


@pytest.mark.parametrize("content", ["[]", "3", "{}", '{"data": "iris"}'])
def test_conditions_that_are_none_are_refused(iris: Data, tmp_path: Path, content: str) -> None:
    file = tmp_path / "members" / "conditions.json"
    file.parent.mkdir()
    file.write_text(content)
    sentence = f"{file} does not contain the conditions of a run: it cannot be resumed"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        MemberCheckpoints(tmp_path, iris, PLAIN, ())


def test_members_of_a_finished_run_are_let_go_and_its_conditions_stay(
    iris: Data, tmp_path: Path
) -> None:
    kept = MemberCheckpoints(tmp_path, iris, PLAIN, ())
    kept.keep(1, taught(iris))
    delete_member_checkpoints(tmp_path)
    assert [path.name for path in (tmp_path / "members").iterdir()] == ["conditions.json"]
    assert not kept.restore(1, tree(iris))


@pytest.mark.parametrize("place", ["members", "members/001", "members/conditions.json"])
def test_no_member_is_read_written_or_removed_where_a_link_leads(
    iris: Data, tmp_path: Path, place: str
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    outside = outside_of(run)
    (outside / "001").mkdir()
    if place != "members":
        (run / "members").mkdir()
    (run / place).symlink_to(outside / "001" if place == "members/001" else outside)
    with pytest.raises(DataError, match=refusal(run / place, "link")):
        MemberCheckpoints(run, iris, PLAIN, ()).restore(1, tree(iris))
    if place == "members":
        with pytest.raises(DataError, match=refusal(run / place, "link")):
            delete_member_checkpoints(run)
    else:
        delete_member_checkpoints(run)
    (outside / "001").rmdir()
    assert is_untouched(outside)
