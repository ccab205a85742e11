"""`python -m tests.mutants`: plant small bugs by the hundred and list those that no test sees."""
# ruff: noqa: T201 - a table on the terminal is what it is for

import argparse
import os
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.mutants import report
from tests.mutants.child import run_all
from tests.mutants.choice import own_test_file
from tests.mutants.function_map import ROOMS, FunctionMap, read_map
from tests.mutants.planting import package_folder
from tests.mutants.preload import preload
from tests.mutants.sample import again, chunks, draw, shard
from tests.mutants.trial import Trial

OPEN = ("survived", "unreached", "untested")


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.mutants", description=__doc__)
    add = parser.add_argument
    add("--count", type=int, default=1500, help="how many mutants are drawn in all")
    add("--seed", type=int, default=21, help="what they are drawn by")
    add("--room", action="append", choices=ROOMS, help="only of this room; may be given again")
    add(
        "--only",
        action="append",
        metavar="FILE",
        help="only of a file, such as core/files/storage.py",
    )
    add("--map", type=Path, metavar="FOLDER", help="which tests run what, by --mutant-map")
    add("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    add("--shard", default="1/1", metavar="I/N", help="only this part of the sample")
    add("--seconds", type=float, default=float("inf"), help="end in order after so many")
    add("--json", type=Path, metavar="OUT", help="write all outcomes there")
    add("--again", type=Path, metavar="JSON", help="those that survived or were not reached there")
    add("--unchanged", action="store_true", help="change nothing: whatever is killed is an error")
    add("--merge", type=Path, nargs="+", metavar="JSON", help="print what shards wrote; run none")
    return parser.parse_args(arguments)


def tried(options: argparse.Namespace) -> list[report.Row]:
    """Draw, plant and try."""
    deadline = time.monotonic() + options.seconds
    package = package_folder()
    mutants = draw(package, options.count, options.seed, options.room or ROOMS)
    if options.again:
        mutants = again(package, report.read([options.again]), OPEN)
    if options.unchanged:
        mutants = [replace(one, path=(), change="nothing") for one in mutants]
    groups = chunks([one for one in mutants if not options.only or one.file in options.only])
    groups = shard(groups, options.shard)
    drawn = sum(map(len, groups))
    print(f"seed {options.seed}: {drawn} mutants in {len(groups)} groups", flush=True)
    found = read_map(options.map) if options.map else FunctionMap({}, {})
    preload(sorted({own_test_file(group[0].file) for group in groups}))
    rows: list[report.Row] = []
    works = [partial(Trial(package, found, deadline).run, group) for group in groups]
    for answer in run_all(works, options.jobs):
        rows += answer.value or []
        survived = sum(row["verdict"] == "survived" for row in rows)
        print(f"\r{len(rows)} of {drawn}, {survived} survived", end="", flush=True)
    lost = drawn - len(rows)
    print(f"\n{lost} lost with a process that died" if lost else "")
    return rows


def main(arguments: list[str]) -> int:
    """Print the table and the survivors; 1 where there are any."""
    options = parsed(arguments)
    os.environ.update({"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"})
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tempfile.tempdir = folder  # what a killed process leaves goes with it
        rows = report.read(options.merge) if options.merge else tried(options)
    if options.json:
        settings = {"count": options.count, "seed": options.seed, "shard": options.shard}
        report.write(options.json, rows, settings)
    survivors = report.survivors(rows)
    print(*report.table(rows), "", *survivors, sep="\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
