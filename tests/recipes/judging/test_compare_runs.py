"""Trained runs, paired by seed and judged as they are."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError

SMALL: dict[str, Any] = {"n": 90, "epochs": 2, "quiet": True, "device": "cpu"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    for seed in range(3):
        for width in (1, 16):
            out = folder / f"w{width}-s{seed}"
            nw.fit("mlp", "moons", hidden=(width,), lr=0.05, seed=seed, out=out, **SMALL)
    return folder


def test_it_says_what_compare_says_which_trains_them_again(runs: Path) -> None:
    folders = [runs / f"w{width}-s{seed}" for width in (1, 16) for seed in (0, 1, 2)]
    found = nw.compare_runs(*folders)
    again = nw.compare(folders[0], folders[3], seeds=3, quiet=True)
    assert [row.scores for row in found.rows] == [row.scores for row in again.rows]
    assert [row.seeds for row in found.rows] == [(0, 1, 2)] * 2
    assert [one.word for one in found.verdicts] == [one.word for one in again.verdicts]
    assert found.rows[1].label == "w16-s0" and found.baseline == again.baseline


def test_only_seeds_of_both_count(runs: Path) -> None:
    found = nw.compare_runs(runs / "w1-s0", runs / "w1-s1", runs / "w16-s1", runs / "w16-s2")
    assert [row.seeds for row in found.rows] == [(1,)] * 2
    assert found.verdicts[0].word == "no verdict"
    assert nw.compare_runs(runs / "w1-s0", runs / "w16-s0", metric="brier").better == "lower"


def test_refuses_what_cannot_be_paired(runs: Path, tmp_path: Path) -> None:
    other = {**SMALL, "n": 100}
    nw.fit("mlp", "moons", hidden=(1,), out=tmp_path / "other", **other)
    cases: list[tuple[list[str | Path], str]] = [
        (["w1-s0"], "at least two runs, got 1"),
        (["w1-s0", "w1-s1"], "these are of one"),
        (["w1-s0", "w16-s1"], "no seed in common"),
        (["w1-s0", tmp_path / "other"], "not measured on the same rows"),
    ]
    shutil.copytree(runs / "w1-s0", tmp_path / "again")
    shutil.copytree(runs / "w16-s0", tmp_path / "stopped")
    results = tmp_path / "stopped" / "results.json"
    results.write_text(json.dumps({**json.loads(results.read_text()), "finished": False}))
    cases += [
        (["w1-s0", tmp_path / "again", "w16-s0"], "again has the recipe and the seed of another"),
        (["w1-s0", tmp_path / "stopped"], "stopped was stopped before its end: resume it first"),
    ]
    for folders, words in cases:
        with pytest.raises(ConfigError, match=words):
            nw.compare_runs(*(runs / one for one in folders))
    with pytest.raises(ConfigError, match="w1-s0 has no perplexity"):
        nw.compare_runs(runs / "w1-s0", runs / "w16-s0", metric="perplexity")
