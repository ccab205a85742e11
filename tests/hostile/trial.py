"""A case tried: set up in a folder of its own, its commands typed, its canaries looked after."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.hostile.canary import Watch, holds_secret, set_up
from tests.hostile.case import Case, Place
from tests.hostile.jail import run_jailed
from tests.hostile.verdict import Verdict, faults_of, how_it_ended

# What training may leave in the cache: a choice, tables that are larger than memory, and what was
# counted of shards.
REMEMBERED = re.compile(
    r"onednn\.json|data(/tables(/[0-9a-f]{16}(\.lock|/.*)?)?)?"
    r"|data/shards(/([0-9a-f]{24}\.safetensors|counting\.lock))?"
)


def try_case(case: Case, honest: Path, *, before: Callable[[], None] | None = None) -> Verdict:
    """Set a case up in a new folder, type its commands, and say how it ended.

    Args:
        case: what is tried.
        honest: what `make_honest` filled.
        before: is called in the process of each command first: a planted bug.
    """
    top = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        return _tried(case, Place(top, honest), before)
    finally:
        for folder, _, _ in os.walk(top):
            os.chmod(folder, 0o700)
        shutil.rmtree(top)


def _tried(case: Case, place: Place, before: Callable[[], None] | None) -> Verdict:
    set_up(place)
    case.make(place)
    brought = holds_secret(place)
    watch = Watch(place)
    faults: dict[str, str] = {}
    ends, said, seconds = [], [], 0.0
    for arguments in case.typed():
        outcome = run_jailed(
            arguments,
            folder=place.work,
            environment={
                "HOME": str(place.home),
                "NETWRIGHT_HOME": str(place.cache),
                "TMPDIR": str(place.temporary),
                "TERM": "dumb",  # colours and bars would be escape codes of our own
                **case.environment,
            },
            fresh=case.fresh,
            before=before,
        )
        found = faults_of(outcome, case.end)
        typed = " ".join(arguments)[:80]
        faults.update({name: f"{typed}: {line}" for name, line in found.items()})
        seconds += outcome.seconds
        ends.append(how_it_ended(outcome))
        said.append(outcome.output.decode("utf-8", "replace").rstrip("\n").rsplit("\n", 1)[-1])
    for name, paths in watch.close().items():
        if paths:
            faults[name] = f"outside: {', '.join(paths)}"
    leaked = [name for name in holds_secret(place) if name not in brought]
    if leaked:
        faults.setdefault("read", f"the secret came into {', '.join(leaked)}")
    left = [path.name for path in place.temporary.iterdir()]
    if left:
        faults.setdefault("written", f"left behind in the temporary folder: {', '.join(left)}")
    kept = (str(path.relative_to(place.cache)) for path in place.cache.rglob("*"))
    strange = [name for name in kept if not REMEMBERED.fullmatch(name)]
    if strange:
        faults.setdefault("written", f"in the cache: {', '.join(strange)}")
    return Verdict(case=case.name, ends=ends, faults=faults, said=said, seconds=seconds)
