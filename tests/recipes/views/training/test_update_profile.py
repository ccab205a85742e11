"""The view `profile`: of a run that was profiled, in a section of the report; refused elsewhere."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training.update_profile import PROFILE
from netwright.train.profiling import seen_updates
from netwright.train.profiling.hardware_rates import HardwareRates
from netwright.train.profiling.profile_file import FILE, write_profile
from tests.inspection.training.profiles import ON_A_CPU, ON_CUDA, uncounted
from tests.train.toy_runs import assert_same, copy_of


@pytest.fixture
def own_run(moons_run: nw.Run, tmp_path: Path) -> nw.Run:
    """A run whose folder no other test reads."""
    shutil.copytree(moons_run.folder, tmp_path / "run")  # type: ignore[arg-type]
    return nw.open_run(tmp_path / "run")


def folder_of(run: nw.Run) -> Path:
    assert run.folder is not None
    return run.folder


@pytest.fixture
def known_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = HardwareRates(1e12, 1e12)
    monkeypatch.setattr(seen_updates, "hardware_rates", lambda device, kind, seen: rates)


@pytest.mark.usefixtures("known_rates")
def test_a_profiled_run_has_the_same_weights_and_a_profile(
    moons_run: nw.Run, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"hidden": (16,), "epochs": 3, "out": tmp_path / "run"}
    run = nw.fit("mlp", "moons", profile=True, quiet=True, **settings)
    assert_same(copy_of(run.model), copy_of(moons_run.model))
    profile = nw.inspect(nw.open_run(tmp_path / "run"), "profile")
    assert profile.to_json()["amount"] == 32.0
    assert any(part["name"] == "guard" for part in profile.to_json()["parts"])


def test_a_run_that_was_not_profiled_says_how_to(moons_run: nw.Run) -> None:
    with pytest.raises(ConfigError, match="not profiled: train it with --profile, or profile=True"):
        nw.inspect(moons_run, "profile")


@pytest.mark.parametrize("model", ["ridge", "bagging"])
def test_what_has_its_own_rule_has_no_updates_to_profile(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = "line" if model == "ridge" else "moons"
    settings: dict[str, Any] = {} if model == "ridge" else {"members": 1, "epochs": 1}
    run = nw.fit(model, data, profile=True, out=tmp_path / "run", **settings)
    assert not (folder_of(run) / FILE).exists()
    if model == "ridge":
        assert "ridge has its own learning rule and does not use profile" in capsys.readouterr().err
    with pytest.raises(ConfigError, match=f"{model} has its own learning rule"):
        nw.inspect(run, "profile")


def test_without_a_folder_there_is_no_place_for_it() -> None:
    with pytest.raises(ConfigError, match=r"save=False .* drop the argument 'profile'"):
        nw.fit("mlp", "moons", save=False, profile=True)


def test_a_file_that_no_run_has_written_is_refused(own_run: nw.Run) -> None:
    (folder_of(own_run) / FILE).write_text("{}")
    with pytest.raises(DataError, match=r"profile\.json is not the profile of a run"):
        PROFILE.show(Subject(own_run, None), {})


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("profile", [ON_A_CPU, ON_CUDA, uncounted("no <b>reason</b>")])
def test_the_report_has_a_section_for_it(profile: Any, own_run: nw.Run, tmp_path: Path) -> None:
    write_profile(folder_of(own_run) / FILE, profile)
    page = own_run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    section = page[page.index("<h2>Speed</h2>") : page.index("<h2>Doctor</h2>")]
    assert f"{profile.rate:,.0f}" in section
    assert "model FLOP utilisation" in section
    for words in ("backward", "of matmul" if profile.flops else "of copy", "Memory by kind"):
        assert words in section
    assert "<b>reason" not in section
