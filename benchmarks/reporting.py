"""What the benchmarks share in printing: tables for people, one JSON object a line for programs."""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
# column of the table -> (key of the row, how to write its value)
Columns = Mapping[str, tuple[str, str]]


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def show(rows: Sequence[Row], columns: Columns, *, title: str, as_json: bool) -> None:
    """Print the rows, as JSON lines or as a table with a title; both at once, none kept back."""
    if as_json:
        for row in rows:
            print(json.dumps(row), flush=True)
        return
    print(f"\n{title}\n{table(rows, columns)}", flush=True)


def table(rows: Sequence[Row], columns: Columns) -> str:
    """Rows under their heads in Markdown: words to the left, numbers to the right."""
    cells = [[_cell(row.get(key), form) for key, form in columns.values()] for row in rows]
    is_number = [form != "" for _, form in columns.values()]
    widths = [max(len(text) for text in column) for column in zip(columns, *cells, strict=True)]
    rule = [
        "-" * (width - 1) + ":" if number else "-" * width
        for width, number in zip(widths, is_number, strict=True)
    ]
    lines = []
    for line in [list(columns), rule, *cells]:
        padded = [
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(line, widths, is_number, strict=True)
        ]
        lines.append("| " + " | ".join(padded) + " |")
    return "\n".join(lines)


def _cell(value: Any, form: str) -> str:
    if value is None:
        return ""
    return format(value, form) if isinstance(value, int | float) else str(value)


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile; a single value is all three."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def spread(low: float, high: float, form: str = ".3f") -> str:
    return f"{low:{form}}-{high:{form}}"


def measure_box(threads: int) -> dict[str, Any]:
    """What the machine can do at most, so that results can be read as fractions of it."""
    import torch

    torch.set_num_threads(threads)
    side = 1024
    matrix = torch.ones(side, side)
    block = torch.ones(32 * 2**20 // 4)  # 32 MiB
    target = torch.empty_like(block)
    copy_s = _fastest(lambda: target.copy_(block))
    return {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "threads": threads,
        "torch": torch.__version__,
        "matmul_gflop_per_s": 2 * side**3 / _fastest(lambda: matrix @ matrix) / 1e9,
        "copy_gb_per_s": 2 * block.nbytes / copy_s / 1e9,  # read and written
    }


def _fastest(action: Callable[[], Any], times: int = 5) -> float:
    """Wall seconds of the quickest of a few tries: a limit is what was reached once."""
    action()
    tries = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        tries.append(time.perf_counter() - start)
    return min(tries)
