"""`netwright serve` whose models wait until a file is there: `python -m ... FILE WORDS...`."""

import sys
import time
from pathlib import Path

from torch import Tensor

from netwright.apps.cli.main import main
from netwright.core.trees import Tree
from netwright.recipes.run.run import Run

GO, *WORDS = sys.argv[1:]
predictions_of = Run.predictions_of


def held_up(self: Run, inputs: Tree) -> Tensor:
    while not Path(GO).exists():
        time.sleep(0.005)
    return predictions_of(self, inputs)


Run.predictions_of = held_up  # type: ignore[method-assign]
main(WORDS)
