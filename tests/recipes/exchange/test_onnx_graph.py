"""ONNX graphs in onnxruntime: every family agrees with its model to 1e-4, or is refused and why."""

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.core.files.storage import new_folder
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.recipes.exchange import onnx_graph
from netwright.recipes.exchange.export import TOLERANCE, compare, takes_any_length
from netwright.recipes.exchange.onnx_graph import LACKING, OnnxGraph
from netwright.recipes.exchange.tracing import UNTRACEABLE
from tests.models.test_catalog import label
from tests.recipes.exchange.families import families, source_of, spec_of

PACKAGES = ("onnx", "onnxscript", "onnxruntime")  # imported where a test needs them: for a second
pytestmark = pytest.mark.skipif(
    not all(map(find_spec, PACKAGES)), reason=f"needs {', '.join(PACKAGES)}"
)


def session_of(path: Path) -> Any:
    return import_module("onnxruntime").InferenceSession(path)


@pytest.mark.parametrize(("name", "spec"), families(("hopfield", "features", "class")), ids=label)
def test_a_family_agrees_with_its_model_or_is_refused(
    name: str, spec: DataSpec, tmp_path: Path
) -> None:
    source, form = source_of(name, spec), OnnxGraph()
    if name in {*UNTRACEABLE, *LACKING}:
        reason = LACKING.get(name) or UNTRACEABLE[name]
        with (
            pytest.raises(ConfigError, match=f"^{name} cannot be exported to onnx.*{reason}"),
            new_folder(tmp_path / "out") as staging,
        ):
            form.write(source, staging)
        return
    with new_folder(tmp_path / "out") as staging:
        form.write(source, staging)
        assert compare(source, form.reopen(source, staging.path)) < TOLERANCE


def test_raw_rows_of_any_number_go_in_and_probabilities_come_out(
    moons_run: nw.Run, tmp_path: Path
) -> None:
    done = moons_run.export("onnx", tmp_path / "out")
    assert done.files == ("model.onnx", "preprocessing.json", "export.json")
    onnx = import_module("onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "out" / "model.onnx"))
    session = session_of(tmp_path / "out" / "model.onnx")
    (inputs,), (outputs,) = session.get_inputs(), session.get_outputs()
    told: dict[str, Any] = json.loads((tmp_path / "out" / "export.json").read_text())
    assert (inputs.name, inputs.type) == ("inputs", "tensor(double)")
    assert told["inputs"]["tensors"][0]["dtype"] == "float64"
    assert outputs.name == told["outputs"]["are"] == "probabilities"
    for count in (1, 7):
        rows = np.linspace(-1, 2, 2 * count).reshape(count, 2)
        (got,) = session.run(None, {"inputs": rows})
        np.testing.assert_allclose(got, moons_run.predict_proba(rows), rtol=0, atol=1e-6)


def test_the_names_of_refusals_are_models() -> None:
    for name in LACKING:
        MODELS.check(name)


def test_more_weights_than_a_file_holds_are_refused(
    moons_run: nw.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_graph, "MOST_BYTES", 100)
    with pytest.raises(ConfigError, match=r"^an ONNX file holds at most 2 GiB.* torch-export$"):
        moons_run.export("onnx", tmp_path / "out")


@pytest.mark.slow
def test_a_recurrence_declares_its_length_and_takes_no_other(tmp_path: Path) -> None:
    source, form = source_of("gru", spec_of("gru", "tokens", "tokens")), OnnxGraph()
    with new_folder(tmp_path / "out") as staging:
        form.write(source, staging)
        reopened = form.reopen(source, staging.path)
        assert not takes_any_length(source, reopened)
    session = session_of(tmp_path / "out" / "model.onnx")
    assert session.get_inputs()[0].shape[1] == source.rows.shape[1]
