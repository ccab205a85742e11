"""What MLflow's own client finds in the folder of a run."""

from pathlib import Path

import pytest

from netwright.core.environment import environment
from tests.train.trackers.tracked_runs import resumed_run

pytestmark = pytest.mark.slow  # it takes seconds to import


def test_its_client_finds_one_run_with_all_its_rows(tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    run = resumed_run(tmp_path, "mlflow")
    folder = tmp_path / "run" / "tracking"
    with environment(MLFLOW_ALLOW_FILE_STORE="true", MLFLOW_DISABLE_TELEMETRY="true"):
        from mlflow.tracking import MlflowClient

        client = MlflowClient(tracking_uri=(folder / "mlflow").as_uri())
    experiment = client.get_experiment_by_name("netwright")
    assert experiment is not None
    (found,) = client.search_runs([experiment.experiment_id])
    assert found.info.status == "FINISHED"
    assert found.info.run_name == "run"
    assert found.data.tags["netwright.id"] == (folder / "id").read_text()
    assert found.data.params["train.epochs"] == "4"
    for key in run.history.keys():
        told = client.get_metric_history(found.info.run_id, key)
        rows = [row for row in run.history if row.key == key]
        assert [(metric.step, metric.value) for metric in told] == [
            (row.step, row.value) for row in rows
        ]
        seconds = [(metric.timestamp - told[0].timestamp) / 1000 for metric in told]
        assert seconds == pytest.approx([row.time - rows[0].time for row in rows], abs=0.01)
    for name, value in run.results["metrics"].items():
        assert found.data.metrics[f"final/{name}"] == value
