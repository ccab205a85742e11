"""What TensorBoard reads of a run is its history, its settings and its measures."""

from pathlib import Path
from typing import Any

import pytest

from tests.train.trackers.tracked_runs import resumed_run

pytest.importorskip("tensorboard")


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Every series as TensorBoard's own reader has it."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read: Any = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    read.Reload()
    assert "settings/text_summary" in read.Tags()["tensors"]
    assert "_hparams_/session_start_info" in read.PluginTagToContent("hparams")
    return {
        tag: [(event.step, event.value) for event in read.Scalars(tag)]
        for tag in read.Tags()["scalars"]
    }


def test_it_reads_the_history_of_a_resumed_run(tmp_path: Path) -> None:
    run = resumed_run(tmp_path, "tensorboard")
    found = scalars(tmp_path / "run" / "tracking" / "tensorboard")
    for key in run.history.keys():
        rows = [row for row in run.history if row.key == key]
        assert [step for step, _ in found[key]] == [row.step for row in rows]
        values = [value for _, value in found[key]]
        assert values == pytest.approx([row.value for row in rows], rel=1e-6)  # float32
    finals = {key: values for key, values in found.items() if key.startswith("final/")}
    assert {key.removeprefix("final/") for key in finals} == set(run.results["metrics"])
    for name, value in run.results["metrics"].items():
        ((step, found_value),) = finals[f"final/{name}"]
        assert step == run.results["steps"]
        assert found_value == pytest.approx(value, rel=1e-6)
