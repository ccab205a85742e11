"""A run for MLflow, in a local folder of files: parameters, metrics by step, final metrics.

    MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri runs/mlp-digits-001/tracking/mlflow

MLflow asks for that variable because it prefers databases; a folder needs no server and no SQL.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from netwright.core.environment import environment
from netwright.train.trackers.tracker import FINAL, Measured, TrackedRun, Tracker

EXPERIMENT = "netwright"
MOST_METRICS = 1000  # that MLflow takes at once
MOST_PARAMETERS = 100
LONGEST_VALUE = 6000  # characters of a parameter


class MlflowTracker(Tracker):
    """Writes by an `MlflowClient` of its own: the caller's tracking server is not asked."""

    package: ClassVar[str] = "mlflow"

    def __init__(self, folder: Path, run: TrackedRun) -> None:
        # Made once a process for each place, and missed by a run that is resumed in the same one.
        (folder / ".trash").mkdir()
        # Its makers count calls unless they are told not to.
        with environment(MLFLOW_ALLOW_FILE_STORE="true", MLFLOW_DISABLE_TELEMETRY="true"):
            from mlflow.entities import Metric, Param  # noqa: PLC0415 - optional
            from mlflow.tracking import MlflowClient  # noqa: PLC0415 - optional

            self.client = MlflowClient(tracking_uri=folder.resolve().as_uri())
        self.metric, self.started = Metric, run.started
        experiment = self.client.create_experiment(EXPERIMENT)
        made = self.client.create_run(
            experiment,
            start_time=_milliseconds(run.started),
            tags={"netwright.id": run.id},
            run_name=run.name,
        )
        self.id = made.info.run_id
        parameters = [
            Param(name, str(value)[:LONGEST_VALUE]) for name, value in run.settings.items()
        ]
        for start in range(0, len(parameters), MOST_PARAMETERS):
            self.client.log_batch(self.id, params=parameters[start : start + MOST_PARAMETERS])

    def write(self, rows: Sequence[Measured]) -> None:
        """One metric a row, at its step and its time."""
        for start in range(0, len(rows), MOST_METRICS):
            part = rows[start : start + MOST_METRICS]
            metrics = [
                self.metric(row.key, row.value, _milliseconds(self.started + row.time), row.step)
                for row in part
            ]
            self.client.log_batch(self.id, metrics=metrics)

    def finish(self, metrics: Mapping[str, float], step: int) -> None:
        """The measures, and that the run has ended."""
        for name, value in metrics.items():
            self.client.log_metric(self.id, f"{FINAL}/{name}", value, step=step)
        self.client.set_terminated(self.id)

    def close(self) -> None:
        """Nothing is open between two calls."""


def _milliseconds(seconds: float) -> int:
    return round(1000 * seconds)
