"""How long a person waits for `--help` and a list, beside what Python and torch take to start.

Measured: wall seconds of a fresh process, from its start to its end. The commands take turns, the
first round (which fills the disk's cache and writes byte code) is thrown away, the median counts.
The python and the `netwright` script are those of the environment that runs this file.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from reporting import add_json_option, quartiles, show, spread

COLUMNS = {
    "command": ("name", ""),
    "seconds": ("seconds", ".3f"),
    "quartiles": ("spread", ""),
    "over python": ("over_python_s", ".3f"),
    "remarks": ("remarks", ""),
}


def commands() -> dict[str, list[str]]:
    script = Path(sys.executable).with_name("netwright")
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "netwright --help": [str(script), "--help"],
        "netwright list models": [str(script), "list", "models"],
        'python -c "import torch"': [sys.executable, "-c", "import torch"],
    }


def wall_seconds(command: list[str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise RuntimeError(f"exit status {done.returncode}: {last}")
    return seconds


def measure_starts(rounds: int) -> list[dict[str, Any]]:
    """One row a command; a command that cannot run says why and does not stop the others."""
    seconds: dict[str, list[float]] = {name: [] for name in commands()}
    failures: dict[str, str] = {}
    for number in range(rounds + 1):
        for name, command in commands().items():
            if name in failures:
                continue
            try:
                taken = wall_seconds(command)
            except FileNotFoundError as error:
                failures[name] = f"not installed: {error}"
            except RuntimeError as error:
                failures[name] = f"failed: {error}"
            else:
                if number > 0:
                    seconds[name].append(taken)
    bare = quartiles(seconds["python -c pass"])[1]
    rows: list[dict[str, Any]] = []
    for name, values in seconds.items():
        if name in failures:
            rows.append({"name": name, "remarks": failures[name]})
            continue
        low, middle, high = quartiles(values)
        row = {"name": name, "seconds": middle, "spread": spread(low, high)}
        rows.append({**row, "over_python_s": middle - bare, "rounds": len(values)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10, help="fresh processes a command (10)")
    add_json_option(parser)
    options = parser.parse_args()
    rows = measure_starts(options.rounds)
    show(rows, COLUMNS, title="start of a fresh process", as_json=options.json)


if __name__ == "__main__":
    main()
