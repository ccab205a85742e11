"""Losses that are read while a run writes them."""

from itertools import pairwise
from pathlib import Path

from netwright.recipes.saved.loss_curves import MOST_POINTS, LossCurves
from netwright.train.watching.history import Row, append_rows, write_rows


def row(step: int, value: float, split: str = "train") -> Row:
    return Row(step=step, epoch=step, samples=0, time=0.0, split=split, name="loss", value=value)


def test_curves_grow_with_the_file(tmp_path: Path) -> None:
    curves, file = LossCurves(tmp_path), tmp_path / "metrics.jsonl"
    curves.read_on()
    assert curves.curves() == {}
    append_rows(file, [row(1, 3.0), row(1, 4.0, "val")])
    curves.read_on()
    append_rows(file, [row(2, 2.0)])
    with file.open("a") as more:
        more.write('{"step": 3, "epo')  # a row that is being written
    curves.read_on()
    assert curves.curves() == {"train/loss": [(1, 3.0), (2, 2.0)], "val/loss": [(1, 4.0)]}
    assert (curves.epoch, curves.step) == (2, 2)


def test_a_file_that_is_replaced_is_read_again(tmp_path: Path) -> None:
    curves, file = LossCurves(tmp_path), tmp_path / "metrics.jsonl"
    append_rows(file, [row(1, 3.0), row(2, 2.0)])
    curves.read_on()
    write_rows(file, [row(1, 9.0)])
    curves.read_on()
    assert curves.curves() == {"train/loss": [(1, 9.0)]}


def test_a_long_run_has_few_points_over_all_of_its_length(tmp_path: Path) -> None:
    curves = LossCurves(tmp_path)
    append_rows(tmp_path / "metrics.jsonl", [row(step, 1.0) for step in range(1, 5001)])
    curves.read_on()
    points = curves.curves()["train/loss"]
    assert MOST_POINTS / 2 <= len(points) <= MOST_POINTS
    gaps = {after[0] - before[0] for before, after in pairwise(points)}
    assert points[0][0] == 1 and points[-1][0] > 4900 and len(gaps) == 1


def test_within_the_first_epoch_the_curve_is_by_step(tmp_path: Path) -> None:
    curves = LossCurves(tmp_path)
    append_rows(tmp_path / "metrics.jsonl", [row(1, 3.0, "step"), row(2, 2.0, "step")])
    curves.read_on()
    assert curves.curves() == {"train/loss": [(1, 3.0), (2, 2.0)]}


def test_what_is_no_row_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("no json\n[]\n{}\n")
    curves = LossCurves(tmp_path)
    curves.read_on()
    assert curves.curves() == {}
