"""The model of a run folder: what does not fit is refused before memory is taken for it."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.core.files.storage import as_json, new_folder
from netwright.recipes.saved.model_of_run import build_saved_model, trained_model
from netwright.recipes.saved.run_folder import SavedModel


def forged(run: nw.Run, tmp_path: Path, **changes: Any) -> SavedModel:
    """The saved model of a run with other words in its description, and right sums."""
    assert run.folder is not None
    model = run.folder / "model"
    described = json.loads((model / "config.json").read_text())
    with new_folder(tmp_path / "model") as staging:
        staging.write("config.json", as_json({**described, **changes}))
        for name in ("preprocessor.json", "model.safetensors"):
            staging.write(name, (model / name).read_bytes())
    return SavedModel(tmp_path / "model")


def test_the_model_of_a_run_is_built_and_gets_its_weights(
    moons_run: nw.Run, tmp_path: Path
) -> None:
    saved = forged(moons_run, tmp_path)
    model = build_saved_model(saved, tmp_path)
    trained_model(model, saved, tmp_path)
    expected = moons_run.model.state_dict()
    assert all(torch.equal(held, expected[name].cpu()) for name, held in model.state_dict().items())


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"hidden": [60_000, 60_000]}, "the model takes 14.4 GB, at most 8 GB are allowed"),
        ({"hidden": [15_000, 15_000]}, "its settings ask for 225,"),
        ({"hidden": [17]}, "Error.* size mismatch for"),
        ({"hidden": [1] * 30_000}, "the model holds 101 weights and buffers"),
    ],
)
def test_settings_that_are_not_those_of_the_weights_are_refused(
    moons_run: nw.Run,
    tmp_path: Path,
    settings: dict[str, Any],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_TENSORS", "100")
    saved = forged(moons_run, tmp_path, settings=settings)
    with pytest.raises(DataError, match=f"^the weights in .* do not fit the model: {reason}"):
        build_saved_model(saved, tmp_path)


def test_a_spec_that_no_model_can_be_built_for_is_refused(
    moons_run: nw.Run, tmp_path: Path
) -> None:
    spec = {**moons_run.spec.to_json(), "input_shape": [2**40]}
    with pytest.raises(DataError, match="raise NETWRIGHT_MAX_INPUT_NUMBERS"):
        forged(moons_run, tmp_path, spec=spec)


def test_a_module_of_ones_own_has_to_be_given(moons_run: nw.Run, tmp_path: Path) -> None:
    saved = forged(moons_run, tmp_path, name="")
    with pytest.raises(ConfigError, match="contains your own module, MLP: pass it as open_run"):
        build_saved_model(saved, tmp_path)
