"""A process beside the tests that has imported everything, and forks one child a command.

The tests' own process has threads, and no process that has them should be forked. The two talk by
lines of JSON: the name of a case and of a planted bug, or of none, and the verdict.
"""

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from tests.hostile.verdict import Verdict

ROOT = Path(__file__).parent.parent.parent
# One thread a process, nothing downloaded, and no card that a fork would share.
PLAIN = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "NETWRIGHT_OFFLINE": "1"}


class Guard:
    """The process, for a block.

    Args:
        honest: where `make_honest` has been, or goes now; several guards may share it.
    """

    def __init__(self, honest: Path) -> None:
        self.honest = honest

    def __enter__(self) -> "Guard":
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self.honest)],
            cwd=ROOT,
            env={**os.environ, **PLAIN},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.communicate()  # it ends when nothing more is asked

    def try_case(self, name: str, planted: str = "") -> Verdict:
        """Try a case, with a bug planted where one is named."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        print(json.dumps([name, planted]), file=asked, flush=True)
        line = answered.readline()
        assert line, f"the guard ended with {self._process.wait()} at {name!r}"
        return Verdict(**json.loads(line))


def _serve(honest: Path) -> None:
    """Answer until the other end is closed."""
    from tests.hostile.corpus import all_cases
    from tests.hostile.honest import make_honest
    from tests.hostile.misdeeds import MISDEEDS, SLOW
    from tests.hostile.planted import PLANTED
    from tests.hostile.trial import try_case
    from tests.hostile.warm import import_everything

    import_everything()
    honest.mkdir(exist_ok=True)
    with (honest.parent / f"{honest.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (honest / "done").exists():
            make_honest(honest)
    bugs = {name: planted.plant for name, planted in PLANTED.items()}
    bugs |= {misdeed.__name__: misdeed for misdeed in (*MISDEEDS, *SLOW)}
    for line in sys.stdin:
        name, planted = json.loads(line)
        bug = bugs[planted] if planted else None
        verdict = try_case(all_cases()[name], honest, before=bug)
        sys.stdout.write(json.dumps(asdict(verdict)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
