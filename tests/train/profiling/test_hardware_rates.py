"""What hardware can do: measured once, kept, measured again where what is kept cannot be right."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from netwright.train.precision import Precision
from netwright.train.profiling import hardware_rates as file
from netwright.train.profiling.hardware_rates import (
    FILE,
    LONGEST,
    HardwareRates,
    hardware_rates,
    measure_rates,
    number_format,
)

CPU = torch.device("cpu")


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The formats that were measured, by a machine of 5 FLOP/s and 7 bytes/s."""
    formats: list[str] = []

    def measure(device: torch.device, kind: str) -> HardwareRates:
        formats.append(kind)
        return HardwareRates(5.0, 7.0)

    monkeypatch.setattr(file, "measure_rates", measure)
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "new" / "home"))
    return formats


def kept(tmp_path: Path) -> Path:
    return tmp_path / "new" / "home" / FILE


def timed(monkeypatch: pytest.MonkeyPatch, *seconds: float) -> Iterator[float]:
    """Let what is measured take these times, one after the other; gives those that are left."""
    times = iter(seconds)

    def quickest(work: Callable[[], object], device: torch.device, seconds: float) -> float:
        work()
        return next(times)

    monkeypatch.setattr(file, "_quickest", quickest)
    return times


def test_rates_are_work_over_the_quickest_time(monkeypatch: pytest.MonkeyPatch) -> None:
    timed(monkeypatch, 0.5, 0.25)
    rates = measure_rates(CPU, "float32", size=8, copied=100)
    assert rates == HardwareRates(flops=2 * 8**3 / 0.5, bytes=2 * 100 / 0.25)


def test_products_grow_up_to_the_largest_and_the_best_rate_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(file, "SMALLEST", 4)
    left = timed(monkeypatch, 1e-3, 1e-3, 9e-3, 1.0)  # n of 4, 8 and 10, and the copy
    assert measure_rates(CPU, "float32", size=10, copied=10).flops == 2 * 8**3 / 1e-3
    assert list(left) == []


def test_where_a_product_takes_long_no_larger_one_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "SMALLEST", 4)
    left = timed(monkeypatch, 1e-3, LONGEST / 4, 1.0)
    assert measure_rates(CPU, "float32", size=64, copied=10).flops == 2 * 4**3 / 1e-3
    assert list(left) == []


def test_the_quickest_of_several_times_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 0.0, 3.0, 10.0, 11.0, 20.0, 25.0])  # 3, 1 and 5 seconds
    monkeypatch.setattr("time.perf_counter", lambda: next(moments))
    calls: list[int] = []
    assert file._quickest(lambda: calls.append(1), CPU, 25.0) == 1.0
    assert len(calls) == 4  # the first is not timed


def test_measuring_draws_from_no_generator_and_leaves_settings_as_they_were() -> None:
    draws, precision = torch.get_rng_state(), torch.get_float32_matmul_precision()
    for kind in ("float32", "bfloat16"):
        assert min(measure_rates(CPU, kind, size=8, copied=64, seconds=0.0)) > 0
    assert torch.equal(torch.get_rng_state(), draws)
    assert torch.get_float32_matmul_precision() == precision


def test_what_was_measured_is_kept_by_device_version_and_format(
    measured: list[str], tmp_path: Path
) -> None:
    for kind in ("float32", "float32", "bfloat16"):
        assert hardware_rates(CPU, kind) == (5.0, 7.0)
    assert measured == ["float32", "bfloat16"]
    names = list(json.loads(kept(tmp_path).read_text()))
    assert all(torch.__version__ in name and "threads" in name for name in names)
    assert [name.rpartition(", ")[2] for name in names] == measured


def test_a_run_that_is_quicker_than_what_is_kept_has_it_measured_again(
    measured: list[str], tmp_path: Path
) -> None:
    hardware_rates(CPU, "float32")
    values = {name: [3.0, 9.0] for name in json.loads(kept(tmp_path).read_text())}
    kept(tmp_path).write_text(json.dumps(values))
    assert hardware_rates(CPU, "float32", seen=2.0) == (3.0, 9.0)
    assert hardware_rates(CPU, "float32", seen=4.0) == (5.0, 9.0)  # of each the most
    assert len(measured) == 2


@pytest.mark.parametrize(
    "content",
    [
        *("{", "[]", '{"KEY": [1]}', '{"KEY": [1, 0]}', '{"KEY": 3}'),
        *('{"KEY": [1e300, 7]}', '{"KEY": [7, 1e300]}', '{"KEY": [9, NaN]}', '{"KEY": [true, 9]}'),
    ],
)
def test_what_cannot_be_right_is_measured_again(
    content: str, measured: list[str], tmp_path: Path
) -> None:
    hardware_rates(CPU, "float32")
    key = next(iter(json.loads(kept(tmp_path).read_text())))
    kept(tmp_path).write_text(content.replace("KEY", key))
    assert hardware_rates(CPU, "float32") == (5.0, 7.0)
    assert len(measured) == 2


def test_entries_that_no_measurement_gives_are_not_kept(
    measured: list[str], tmp_path: Path
) -> None:
    kept(tmp_path).parent.mkdir(parents=True)
    wrong = '"nan": NaN, "inside": [[NaN]], "infinite": [1, Infinity], "large": [1e300, 1]'
    kept(tmp_path).write_text(f'{{{wrong}, "other device": [2, 3.5]}}')
    assert hardware_rates(CPU, "float32") == (5.0, 7.0)
    written = json.loads(kept(tmp_path).read_text())
    assert list(written.values()) == [[2, 3.5], [5.0, 7.0]]
    assert "other device" in written


def test_a_home_that_cannot_be_written_is_no_reason_to_fail(
    measured: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "file" / "home"))
    assert hardware_rates(CPU, "float32") == (5.0, 7.0)


@pytest.mark.parametrize(
    ("precision", "device", "capability", "convolves", "wanted"),
    [
        ("fp32", "cpu", (8, 0), True, "float32"),
        ("bf16-mixed", "cpu", (8, 0), False, "bfloat16"),
        ("fp16-mixed", "cuda", (9, 0), False, "float16"),
        ("fp32", "cuda", (9, 0), False, "float32"),
        ("fp32", "cuda", (9, 0), True, "tf32"),  # torch's usual setting for convolutions
        ("fp32", "cuda", (7, 5), True, "float32"),
    ],
)
def test_products_are_computed_in_this_format(
    precision: Precision,
    device: str,
    capability: tuple[int, int],
    convolves: bool,
    wanted: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert number_format(precision, torch.device(device), convolves=convolves) == wanted


def test_products_that_may_be_tf32_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 0))
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "high")
    assert number_format("fp32", torch.device("cuda")) == "tf32"
