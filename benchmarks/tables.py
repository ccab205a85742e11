"""How fast tables are read and encoded beside pandas and scikit-learn, and what memory it takes.

Measured: a CSV of normal numbers, some missing, whole numbers and categories, drawn from a seed.
Each side runs in a process of its own, in turns, its packages imported before the clock starts.

    read    pandas.read_csv;  here the table with all columns of numbers as floats
    load    pandas.read_csv, a split, then imputation, scaling and one-hot columns of scikit-learn;
            here `load_table`: reading, inference, split and encoding of every row
    predict the same preprocessing, fitted before, then the network by torch, and DataFrame.to_csv;
            here `netwright predict`, with a run that was trained before

The rest are whole processes, with their imports, as they are started in a shell; the modules of
netwright are compiled before, as those of installed packages are:

    train   a script of pandas and scikit-learn: read, split, preprocessing, MLPClassifier with the
            layers, batches and epochs of `netwright train mlp`, and its measures of the test rows;
            here that command with `--no-report`
    report  the same script; here with the report, which the script does not have
    small   the same as train on 178 rows (scikit-learn's wine) for 5 epochs

    ratio = median over rounds of (CPU-seconds of netwright / CPU-seconds of the peer)

1.00 is as fast, 2.00 takes twice as long. Memory is the largest that the process had.
"""

import argparse
import compileall
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from reporting import add_json_option, quartiles, show, spread

import netwright

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


def import_reader() -> None:
    """What reading imports, before the clock starts, as the peer's pandas is."""
    import pandas  # noqa: F401 - which pyarrow imports with its first array
    import pyarrow.compute
    import pyarrow.csv  # noqa: F401


def _read_here(path: str) -> Callable[[], Any]:
    from netwright.data.tables.reading import read_table

    import_reader()

    def read() -> Any:
        table = read_table(path)
        return table, [table.numbers(column) for column in table.columns]

    return read


def _load_here(path: str) -> Callable[[], Any]:
    from netwright.data.tables.table import TableConfig
    from netwright.data.tables.table_file import load_table

    import_reader()
    return lambda: load_table(TableConfig(path=path, target=("y",)))


def _read_peer(path: str) -> Callable[[], Any]:
    import pandas as pd

    return lambda: pd.read_csv(path)


def _peer_encoder() -> Any:
    """Median, scale and one-hot columns, as the user of scikit-learn writes them."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (hot, make_column_selector(dtype_exclude="number")),
    )


def _load_peer(path: str) -> Callable[[], Any]:
    import pandas as pd
    from sklearn.model_selection import train_test_split

    encoder = _peer_encoder()

    def load() -> Any:
        frame = pd.read_csv(path)
        classes = frame.pop("y")
        train, later, *_ = train_test_split(frame, classes, test_size=0.3, stratify=classes)
        return encoder.fit_transform(train), encoder.transform(later)

    return load


TRAINED = 200_000  # rows at most where training is compared too
HIDDEN, BATCH, EPOCHS = (256, 128), 128, 3  # the first two are the defaults of `mlp`


def _predict_peer(path: str) -> Callable[[], Any]:
    import pandas as pd
    import torch
    from torch import nn

    encoder = _peer_encoder()
    width = encoder.fit_transform(pd.read_csv(path, nrows=20_000).drop(columns="y")).shape[1]
    sizes, layers = (width, *HIDDEN), []
    for one, other in pairwise(sizes):
        layers += [nn.Linear(one, other), nn.ReLU()]
    network = nn.Sequential(*layers, nn.Linear(HIDDEN[-1], 2)).eval()  # untrained takes as long

    def predict() -> None:
        frame = pd.read_csv(path)
        with torch.inference_mode():
            inputs = torch.from_numpy(encoder.transform(frame).astype(np.float32))
            chosen = torch.cat([network(some).argmax(1) for some in inputs.split(4096)])
        labels = np.array(["no", "yes"])[chosen.numpy()]
        pd.DataFrame({"y": labels}).to_csv(f"{path}.peer", index=False)

    return predict


def _predict_here(path: str) -> Callable[[], Any]:
    from netwright.apps.cli.commands.predict_command import predict
    from netwright.recipes.run.run import open_run

    import_reader()
    open_run(f"{path}.run")  # imports what a run needs; `predict` opens it again
    out = Path(f"{path}.answers.csv")
    out.unlink(missing_ok=True)

    def act() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            predict(Path(f"{path}.run"), [path], out=out)

    return act


def _train_peer(path: str, epochs: int = EPOCHS) -> Callable[[], Any]:
    import warnings

    import pandas as pd
    from sklearn import metrics
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    def train() -> None:
        frame = pd.read_csv(path)
        classes = frame.pop("y")
        rows, test, wanted, right = train_test_split(
            frame, classes, test_size=0.2, stratify=classes, random_state=0
        )
        network = MLPClassifier(
            HIDDEN, batch_size=BATCH, max_iter=epochs, early_stopping=True, random_state=0
        )
        model = make_pipeline(_peer_encoder(), network)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged
            model.fit(rows, wanted)
        shares = model.predict_proba(test)
        metrics.log_loss(right, shares)
        metrics.classification_report(right, model.classes_[shares.argmax(1)], zero_division=0)
        scores = shares[:, 1] if shares.shape[1] == 2 else shares
        metrics.roc_auc_score(right, scores, multi_class="ovr")

    return train


def _train_here(path: str, *more: str, out: str = "timed") -> Callable[[], Any]:
    def train() -> None:
        import shutil

        from netwright.apps.cli.start import collect_after_loading

        collect_after_loading()  # as the command begins
        from netwright.apps.cli.main import run

        place = f"{path}.{out}"
        shutil.rmtree(place, ignore_errors=True)
        words = ["train", "mlp", path, "--target", "y", "--epochs", str(EPOCHS), "--out", place]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            failed = run([*words, *more])
        if failed:
            raise SystemExit(f"netwright train ended with {failed}")

    return train


SIDES = {
    ("predict", "here"): _predict_here,
    ("predict", "peer"): _predict_peer,
    ("train", "here"): lambda path: _train_here(path, "--no-report"),
    ("train", "peer"): _train_peer,
    ("report", "here"): _train_here,
    ("report", "peer"): _train_peer,
    ("small", "here"): lambda path: _train_here(path, "--no-report", "--epochs", "5"),
    ("small", "peer"): lambda path: _train_peer(path, epochs=5),
    ("read", "here"): _read_here,
    ("read", "peer"): _read_peer,
    ("load", "here"): _load_here,
    ("load", "peer"): _load_peer,
}


WHOLE = ("train", "report", "small")  # whose clock starts with the process


def measure_side(what: str, side: str, path: str) -> dict[str, float]:
    """CPU-seconds of one action in this process, and its largest memory in MB."""
    action = SIDES[what, side](path)
    start = 0.0 if what in WHOLE else time.process_time()
    action()
    seconds = time.process_time() - start
    return {"seconds": seconds, "peak": peak_megabytes()}


def peak_megabytes() -> float:
    """The largest memory of this process; `getrusage` would count that of its parent too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


def write_wine(path: Path) -> None:
    from sklearn.datasets import load_wine

    frame = load_wine(as_frame=True).frame.rename(columns={"target": "y"})
    frame["y"] = "cultivar " + frame["y"].astype(str)
    frame.to_csv(path, index=False)


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
    compileall.compile_dir(Path(netwright.__path__[0]), quiet=1)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        wine = Path(folder, "wine.csv")
        write_wine(wine)
        found.append(compare(wine, 178, "small", options.rounds))
        for rows in options.rows:
            path = Path(folder, f"{rows}.csv")
            write_table(path, rows)
            kinds = ["read", "load"]
            if rows <= TRAINED:
                kinds += ["predict", "train", "report"]
                _train_here(str(path), "--no-report", "--epochs", "1", out="run")()
            found += [compare(path, rows, what, options.rounds) for what in kinds]
    show(found, COLUMNS, title="tables: netwright beside its peers", as_json=options.json)


if __name__ == "__main__":
    main()
