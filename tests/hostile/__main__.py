"""`python -m tests.hostile`: try every hostile case and print one table of what came of them.

--only WORD   the cases whose kind or name holds the word
--quick       those of them that `make test` tries
--list        their names
--said        what each command said last, after how many seconds of the processor
--planted     instead: which cases see the bugs that are planted to undo each guard
"""
# ruff: noqa: T201 - a table on the terminal is what it is for

import os

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "NETWRIGHT_OFFLINE": "1"}

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.hostile.case import Case
from tests.hostile.corpus import all_cases, quick_cases
from tests.hostile.honest import make_honest
from tests.hostile.planted import PLANTED
from tests.hostile.trial import try_case
from tests.hostile.verdict import FAULTS, Verdict
from tests.hostile.warm import import_everything

COLUMNS = ("n", "commands", "refused", "harmless", *FAULTS)


def row_of(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """The counts of a row of the table."""
    ends = Counter(end for verdict in verdicts for end in verdict.ends)
    faults = Counter(name for verdict in verdicts for name in verdict.faults)
    return {
        "n": len(verdicts),
        "commands": sum(ends.values()),
        "refused": ends["refused"],
        "harmless": ends["harmless"],
        **{name: faults[name] for name in FAULTS},
    }


def print_row(kind: str, verdicts: Sequence[Verdict]) -> None:
    """One row, as wide as its head; the seconds are those of the processor."""
    numbers = row_of(verdicts)
    seconds = sum(verdict.seconds for verdict in verdicts)
    cells = "".join(f"  {numbers[name]:>{len(name)}}" for name in COLUMNS)
    print(f"{kind:<32}{cells}  {seconds:>7.1f}", flush=True)


def chosen(word: str, *, quick: bool) -> list[Case]:
    """The cases whose kind or name holds a word."""
    cases = quick_cases() if quick else all_cases().values()
    return [case for case in cases if word in f"{case.kind}: {case.name}"]


def main() -> int:
    """0 where nothing went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--said", action="store_true")
    parser.add_argument("--planted", action="store_true")
    options = parser.parse_args()
    cases = chosen(options.only, quick=options.quick)
    if options.list:
        for case in cases:
            print(f"{case.kind}: {case.name}")
        return 0
    import_everything()
    with tempfile.TemporaryDirectory() as folder:
        make_honest(Path(folder))
        if options.planted:
            return try_planted(Path(folder))
        return try_cases(cases, Path(folder), said=options.said)


def try_cases(cases: Sequence[Case], honest: Path, *, said: bool) -> int:
    """Print the table, and each fault; 1 where there is one."""
    print(f"{'kind':<32}{''.join(f'  {name}' for name in COLUMNS)}  seconds")
    every: list[Verdict] = []
    for kind in dict.fromkeys(case.kind for case in cases):
        verdicts = [try_case(case, honest) for case in cases if case.kind == kind]
        print_row(kind, verdicts)
        every += verdicts
    print_row("all", every)
    for verdict in every:
        for name, line in verdict.faults.items():
            print(f"RED  {verdict.case}: {name}: {line}")
        for end, line in zip(verdict.ends, verdict.said, strict=True) if said else ():
            print(f"{end or 'RED':<8}  {verdict.seconds:5.2f}  {verdict.case}: {line[:300]!a}")
    return 1 if any(verdict.faults for verdict in every) else 0


def try_planted(honest: Path) -> int:
    """Print which cases see each planted bug, and how; 1 where one does not."""
    unseen = 0
    for name, bug in PLANTED.items():
        for case in bug.seen_by:
            faults = try_case(all_cases()[case], honest, before=bug.plant).faults
            unseen += not faults
            print(f"{name:<50}  {', '.join(faults) or 'NOT SEEN':<20}  {case}", flush=True)
    return 1 if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
