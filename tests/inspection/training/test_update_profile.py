"""The profile of an update: its shares, rates and sentences, worked out by hand."""

import pytest

from netwright.inspection.training.update_profile import engineering, milliseconds
from tests.inspection.training.profiles import ON_A_CPU, ON_CUDA, uncounted


def test_speed_and_utilisation_follow_from_the_update_as_it_is_trained() -> None:
    assert ON_A_CPU.rate == pytest.approx(12_800)
    assert ON_A_CPU.flops == 9_000_000
    assert ON_A_CPU.utilisation == pytest.approx(9e6 / 0.01 / 3e9)  # 30 %
    assert ON_CUDA.rate == pytest.approx(64_000)
    assert ON_CUDA.utilisation == pytest.approx(1.5)  # not cut: a rate may be measured too low


def test_the_device_is_idle_while_no_kernel_runs() -> None:
    assert ON_CUDA.idle(ON_CUDA.by_parts) == pytest.approx(0.01 - 0.0015)
    assert ON_CUDA.idle(0.001) == 0.0
    words = "The device runs kernels for 1.500 ms of each update and is idle for the rest; the host"
    assert words in ON_CUDA.caption
    assert "waits" not in ON_A_CPU.caption


def test_each_part_stands_beside_the_rate_that_bounds_it() -> None:
    rows = {row["part"]: row for row in ON_A_CPU.table_rows()}
    assert list(rows) == ["data", "forward", "backward", "measures", "together"]
    assert rows["data"] == {
        "part": "data",
        "ms": "1.000",
        "share": "10.0 %",
        "work": "2 MB",
        "of the hardware's rate": "25.0 % of copy",
    }
    assert rows["forward"]["work"] == "3 MFLOP"
    assert rows["forward"]["of the hardware's rate"] == "33.3 % of matmul"
    assert rows["measures"]["of the hardware's rate"] == ""
    assert (rows["together"]["ms"], rows["together"]["share"]) == ("10.000", "100.0 %")


def test_with_a_graph_both_times_and_the_waits_are_told() -> None:
    rows = [(row["part"], row["ms"]) for row in ON_CUDA.table_rows()[4:]]
    assert rows == [
        ("together", "10.000"),
        ("of it, device idle", "8.500"),
        ("of it, host waits", "0.500"),
        ("as one CUDA graph", "2.000"),
        ("of it, device idle", "0.500"),
    ]
    assert "2.000 ms an update as one CUDA graph, 10.000 ms kernel by kernel" in ON_CUDA.caption
    assert ON_CUDA.headline()[1] == (
        "an update",
        "2.000 ms",
        "as one CUDA graph; 10.000 ms without",
    )


def test_the_caption_says_what_is_counted_and_what_not() -> None:
    words = ON_A_CPU.caption
    assert words.startswith("12,800 samples/s on cpu (abacus): 10.000 ms an update. Model FLOP")
    assert "30.0 %: 9 MFLOP an update, of the 3 GFLOP/s" in words
    assert "on this machine. This counts matrix products, convolutions, attention" in words
    assert "not sums, activation functions, normalisation, the optimizer and the guard" in words
    assert words.endswith("Memory at its peak: 500 MB of the whole process.")


def test_what_could_not_be_counted_is_said_with_its_reason() -> None:
    profile = uncounted("the training step is one of your own")
    assert profile.utilisation is None
    assert "not counted: the training step is one of your own." in profile.caption
    assert profile.headline()[2][1] == "not counted"


def test_operations_have_shares_of_all_and_memory_its_peak() -> None:
    assert ON_A_CPU.operation_rows() == [
        {"operation": "mm", "calls": "3", "ms": "6.000", "share": "75.0 %"},
        {"operation": "others", "calls": "40.3", "ms": "2.000", "share": "25.0 %"},
    ]
    assert ON_A_CPU.memory_rows()[-1] == {"held": "peak of the whole process", "MB": "500.00"}
    assert ON_CUDA.memory_rows()[-1]["held"] == "peak of tensors on the device"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(0.0, "0 B"), (999, "999 B"), (1000, "1 kB"), (51.25e12, "51.2 TB"), (1e15, "1 PB")],
)
def test_large_numbers_have_a_prefix(value: float, wanted: str) -> None:
    assert engineering(value, "B") == wanted


def test_times_are_in_milliseconds() -> None:
    assert milliseconds(0.0001421) == "0.142 ms"
    assert milliseconds(1.5) == "1,500 ms"


def test_the_figure_shows_every_part_with_its_share() -> None:
    figure = ON_A_CPU.plot()
    parts, operations, memory = figure.axes
    assert [label.get_text() for label in parts.get_yticklabels()] == [
        *("data", "forward", "backward", "measures"),
    ]
    assert [text.get_text() for text in operations.texts] == [" 6 (75 %)", " 2 (25 %)"]
    assert [text.get_text() for text in memory.texts] == [" 0.4 (100 %)", " 0"]


def test_a_profile_without_operations_is_drawn_too() -> None:
    profile = uncounted("no reason", operations=(), memory=())
    assert len(profile.plot().axes) == 3
