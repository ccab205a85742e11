"""What memory a CSV takes while it becomes data: read at once, and in parts.

Measured: the table of `tables.py`, loaded by `load_table` in a process of its own with an empty
cache; MB above what the process had before, its packages imported.

    at once    a file that is smaller than data.in_memory_gb
    in parts   a file that is larger: converted a part at a time into rows that stay on disk
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from reporting import add_json_option, show
from tables import import_reader, peak_megabytes, write_table

COLUMNS = {
    "rows": ("rows", ",d"),
    "MB": ("megabytes", ".0f"),
    "at once MB": ("at_once", ".0f"),
    "in parts MB": ("in_parts", ".0f"),
}
ALL, NOTHING = "1000", "0.000001"  # GB that are read at once


def measure_memory(path: str, gigabytes: str) -> float:
    """MB that loading takes above the start, where so many GB of a file are read at once."""
    from netwright.data.tables.table import TableConfig
    from netwright.data.tables.table_file import load_table

    import_reader()
    start = peak_megabytes()
    load_table(TableConfig(path=path, target=("y",), in_memory_gb=float(gigabytes)))
    return peak_megabytes() - start


def in_own_process(path: Path, gigabytes: str) -> float:
    command = [sys.executable, __file__, "--loaded", str(path), gigabytes]
    surroundings = {**os.environ, "NETWRIGHT_HOME": f"{path}.cache"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=surroundings)
    return float(done.stdout)


def compare(rows: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path, rows)
        return {
            "rows": rows,
            "megabytes": path.stat().st_size / 1e6,
            "at_once": in_own_process(path, ALL),
            "in_parts": in_own_process(path, NOTHING),
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[577_000, 2_308_000], help="rows")
    parser.add_argument("--loaded", nargs=2, help=argparse.SUPPRESS)
    add_json_option(parser)
    options = parser.parse_args()
    if options.loaded:
        print(measure_memory(*options.loaded))
        return
    found = [compare(rows) for rows in options.rows]
    show(found, COLUMNS, title="tables: memory above the start", as_json=options.json)


if __name__ == "__main__":
    main()
