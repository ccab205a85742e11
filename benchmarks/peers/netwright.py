"""netwright with its defaults on: progress, history, the training metric, checkpoints."""

import shutil
import tempfile
from pathlib import Path

from contest import Problem, Turn

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split
from netwright.data.spec import DataSpec
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext


def netwright_run(problem: Problem) -> Turn:
    """What `nw.fit` does between loading the data and measuring the result, for some epochs.

    Stopping on non-finite numbers, on signals and the run folder's history and checkpoint are on,
    as they always are; the checkpoint is written, hashed and flushed to disk under the clock.
    Where the others say how Adam steps, so does it, and takes torch's flag for oneDNN as it is.
    """
    network = problem.network()
    spec = DataSpec(inputs="features", input_shape=(784,), target="class", num_outputs=10)
    encoder = ArrayEncoder(input_shape=(784,), target="class", num_outputs=10)
    train = Split(inputs=problem.inputs, targets=problem.labels)
    data = Data(name="mnist", spec=spec, train=train, preprocessor=encoder)
    equal = {"kernel": problem.kernel, "onednn": "on"}  # on: as torch's flag says
    prepared = prepare(
        network,
        data,
        epochs=problem.epochs,
        batch_size=problem.batch_size,
        lr=problem.lr,
        **(equal if problem.kernel else {}),
    )
    folder = Path(tempfile.mkdtemp())
    return Turn(
        lambda: gradient_fit(prepared, RunContext(folder=folder)),
        network,
        lambda: shutil.rmtree(folder),
    )
