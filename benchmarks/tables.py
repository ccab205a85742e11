"""How fast tables are read and encoded beside pandas and scikit-learn, and what memory it takes.

Measured: a CSV of normal numbers, some missing, whole numbers and categories, drawn from a seed.
Each side runs in a process of its own, in turns, its packages imported before the clock starts.

    read    pandas.read_csv;  here the table with all columns of numbers as floats
    load    pandas.read_csv, a split, then imputation, scaling and one-hot columns of scikit-learn;
            here `load_table`: reading, inference, split and encoding of every row

    ratio = median over rounds of (CPU-seconds of netwright / CPU-seconds of the peer)

1.00 is as fast, 2.00 takes twice as long. Memory is the largest that the process had.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reporting import add_json_option, quartiles, show, spread

COLUMNS = {
    "rows": ("rows", ",d"),
    "MB": ("megabytes", ".0f"),
    "what": ("what", ""),
    "netwright s": ("seconds", ".2f"),
    "peer s": ("peer_seconds", ".2f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
    "netwright MB": ("peak", ".0f"),
    "peer MB": ("peer_peak", ".0f"),
}
COLOURS = np.array(["red", "green", "blue", "violet", "yellow", "black"])


def write_table(path: Path, rows: int) -> None:
    """30 columns: 22 reals, 3 whole numbers, 4 categories and a target of two classes."""
    import pandas as pd

    numbers = np.random.default_rng(0)
    columns: dict[str, Any] = {f"x{i}": numbers.normal(size=rows).round(6) for i in range(22)}
    columns |= {f"k{i}": numbers.integers(0, 100, rows) for i in range(3)}
    columns |= {f"c{i}": COLOURS[numbers.integers(0, 6, rows)] for i in range(4)}
    columns["x3"][numbers.random(rows) < 0.05] = np.nan
    score = columns["x0"] + columns["x1"] * columns["x2"] + numbers.normal(size=rows)
    columns["y"] = np.where(score > 0.3, "yes", "no")
    pd.DataFrame(columns).to_csv(path, index=False)


def _read_here(path: str) -> Callable[[], Any]:
    import pyarrow.compute
    import pyarrow.csv  # noqa: F401 - imported before the clock starts, as pandas is

    from netwright.data.tables.reading import read_table

    def read() -> Any:
        table = read_table(path)
        return table, [table.numbers(column) for column in table.columns]

    return read


def _load_here(path: str) -> Callable[[], Any]:
    import pyarrow.compute
    import pyarrow.csv  # noqa: F401

    from netwright.data.tables.table import TableConfig, load_table

    return lambda: load_table(TableConfig(path=path, target=("y",)))


def _read_peer(path: str) -> Callable[[], Any]:
    import pandas as pd

    return lambda: pd.read_csv(path)


def _load_peer(path: str) -> Callable[[], Any]:
    import pandas as pd
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    def load() -> Any:
        frame = pd.read_csv(path)
        classes = frame.pop("y")
        train, later, *_ = train_test_split(frame, classes, test_size=0.3, stratify=classes)
        numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
        hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
        encoder = make_column_transformer(
            (numbers, make_column_selector(dtype_include="number")),
            (hot, make_column_selector(dtype_exclude="number")),
        )
        return encoder.fit_transform(train), encoder.transform(later)

    return load


SIDES = {
    ("read", "here"): _read_here,
    ("read", "peer"): _read_peer,
    ("load", "here"): _load_here,
    ("load", "peer"): _load_peer,
}


def measure_side(what: str, side: str, path: str) -> dict[str, float]:
    """CPU-seconds of one action in this process, and its largest memory in MB."""
    action = SIDES[what, side](path)
    start = time.process_time()
    action()
    seconds = time.process_time() - start
    return {"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}


def in_own_process(what: str, side: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--side", what, side, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def compare(path: Path, rows: int, what: str, rounds: int) -> dict[str, Any]:
    pairs = [
        (in_own_process(what, "here", path), in_own_process(what, "peer", path))
        for _ in range(rounds)
    ]
    low, middle, high = quartiles([ours["seconds"] / peer["seconds"] for ours, peer in pairs])
    return {
        "rows": rows,
        "megabytes": path.stat().st_size / 1e6,
        "what": what,
        "seconds": quartiles([ours["seconds"] for ours, _ in pairs])[1],
        "peer_seconds": quartiles([peer["seconds"] for _, peer in pairs])[1],
        "ratio": middle,
        "spread": spread(low, high, ".2f"),
        "peak": max(ours["peak"] for ours, _ in pairs),
        "peer_peak": max(peer["peak"] for _, peer in pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[200_000, 1_250_000], help="rows")
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes a side (3)")
    parser.add_argument("--side", nargs=3, help=argparse.SUPPRESS)
    add_json_option(parser)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(measure_side(*options.side)))
        return
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in options.rows:
            path = Path(folder, f"{rows}.csv")
            write_table(path, rows)
            found += [compare(path, rows, what, options.rounds) for what in ("read", "load")]
    show(found, COLUMNS, title="tables: netwright beside its peers", as_json=options.json)


if __name__ == "__main__":
    main()
