"""How well tables are learned at default settings, beside scikit-learn at its defaults.

Ten real tables: five that come with scikit-learn, and five of ISLR from $NETWRIGHT_DATA/islr. Of
the larger ones 2,000 rows are drawn, once. Each table is divided into two halves five times (5 x 2
folds, stratified by class); each half is learned from once and measured once. Nothing is tuned.

    fit         nw.fit("mlp", frame): the columns as they are; 15 % of its half choose the epoch
    estimator   NetClassifier() or NetRegressor() on the columns that the peers get
    peers       scikit-learn: numbers imputed and standardised, categories as 0-or-1 columns
    search      with --search SECONDS: `nw.search_models`, so many seconds for each half

Scores are accuracy for classes and R^2 for reals, higher is better. Losses are the log loss of the
probabilities, and the root mean squared error in units of the target's standard deviation, lower is
better. The gap to a peer is that of the pairs of one half; its interval is the corrected
resampled t interval of Nadeau and Bengio (2003),

    mean(d) +- t_{0.975, n-1} sqrt(1/n + test rows / training rows) std(d),    n = 10, ratio 1

Worse is said where the whole interval lies on the wrong side of 0. The uncorrected interval, which
takes the ten for independent and is too narrow, stands beside it as "p <".

A measurement of hours goes in parts: with --keep FILE the scores of a half are written as they
come, a round of all tables after the other, and what the file has is not measured again. With
--part I/N a process measures every N-th half of that list from the I-th on and prints no tables;
N processes, each with a file of its own, share the work, and --keep with the lines of all files
(`cat`) prints the tables.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from reporting import add_json_option, show
from scipy import stats
from sklearn import datasets
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

MOST_ROWS = 2000
FOLDS = 2
TARGET = "target"


class Table(NamedTuple):
    """Columns with one of the name "target"; whether that is a class."""

    frame: pd.DataFrame
    is_class: bool


class Scores(NamedTuple):
    """Of one fit: what `score` gives, and the loss."""

    score: float
    loss: float


# (training rows with their target, rows to answer, seed) -> labels or reals, and probabilities
Contestant = Callable[[Table, pd.DataFrame, int], tuple[NDArray[Any], NDArray[Any] | None]]


def _bundled(name: str, *, is_class: bool) -> Table:
    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return Table(frame.rename(columns={"target": TARGET}), is_class)


def _islr(name: str, target: str, drop: Sequence[str] = (), *, is_class: bool = False) -> Table:
    folder = Path(os.environ.get("NETWRIGHT_DATA", "data")) / "islr"
    frame = pd.read_csv(folder / f"{name}.csv").drop(columns=list(drop))
    frame = frame.rename(columns={target: TARGET}).dropna(subset=[TARGET])
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    return Table(frame.reset_index(drop=True), is_class)


TABLES: Mapping[str, Callable[[], Table]] = {
    "iris": lambda: _bundled("iris", is_class=True),
    "wine": lambda: _bundled("wine", is_class=True),
    "breast-cancer": lambda: _bundled("breast_cancer", is_class=True),
    "digits": lambda: _bundled("digits", is_class=True),
    "default": lambda: _islr("Default", "default", is_class=True),
    "diabetes": lambda: _bundled("diabetes", is_class=False),
    "auto": lambda: _islr("Auto", "mpg", ["name"]),
    "bikeshare": lambda: _islr("Bikeshare", "bikers", ["casual", "registered"]),
    "boston": lambda: _islr("Boston", "medv"),
    "hitters": lambda: _islr("Hitters", "Salary"),
}


def _columns() -> Any:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (hot, make_column_selector(dtype_exclude="number")),
    )


def _peer(
    classifier: Callable[[int], BaseEstimator], regressor: Callable[[int], BaseEstimator]
) -> Contestant:
    def learn(
        table: Table, new: pd.DataFrame, seed: int
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        model = make_pipeline(_columns(), (classifier if table.is_class else regressor)(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the MLP would like more than its default epochs
            model.fit(table.frame.drop(columns=TARGET), table.frame[TARGET])
        return model.predict(new), model.predict_proba(new) if table.is_class else None

    return learn


def _answers(run: Any, table: Table, new: pd.DataFrame) -> Any:
    if table.is_class:
        return np.asarray(run.predict(new)), np.asarray(run.predict_proba(new))
    return np.asarray(run.predict(new)), None


def _settings(table: Table, seed: int) -> dict[str, Any]:
    kind = "class" if table.is_class else "real"
    return {"target": TARGET, "target_kind": kind, "test_size": 0.0, "seed": seed, "quiet": True}


def _fit_here(
    table: Table, new: pd.DataFrame, seed: int
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    import netwright as nw

    run = nw.fit("mlp", table.frame, save=False, **_settings(table, seed))
    return _answers(run, table, new)


def _estimator_here(*, is_class: bool) -> Callable[[int], BaseEstimator]:
    def build(seed: int) -> BaseEstimator:
        from netwright import NetClassifier, NetRegressor

        return (NetClassifier if is_class else NetRegressor)(random_state=seed)

    return build


def _search_here(seconds: float) -> Contestant:
    def learn(
        table: Table, new: pd.DataFrame, seed: int
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        import netwright as nw

        found = nw.search_models(
            table.frame, max_time=seconds, save=False, **_settings(table, seed)
        )
        return _answers(found.run, table, new)

    return learn


CONTESTANTS: dict[str, Contestant] = {
    "fit": _fit_here,
    "estimator": _peer(_estimator_here(is_class=True), _estimator_here(is_class=False)),
    "MLP": _peer(
        lambda seed: MLPClassifier(random_state=seed), lambda seed: MLPRegressor(random_state=seed)
    ),
    "HistGradientBoosting": _peer(
        lambda seed: HistGradientBoostingClassifier(random_state=seed),
        lambda seed: HistGradientBoostingRegressor(random_state=seed),
    ),
    "RandomForest": _peer(
        lambda seed: RandomForestClassifier(random_state=seed),
        lambda seed: RandomForestRegressor(random_state=seed),
    ),
    "linear": _peer(lambda _: LogisticRegression(), lambda _: Ridge()),
}
OURS = ("fit", "estimator", "search")


def measure(
    contestant: Contestant, table: Table, train: NDArray[Any], test: NDArray[Any], seed: int
) -> Scores:
    """Learn from some rows, and answer others."""
    rows, held_out = table.frame.iloc[train], table.frame.iloc[test]
    learned = Table(rows.reset_index(drop=True), table.is_class)
    said, shares = contestant(learned, held_out.drop(columns=TARGET), seed)
    truth = held_out[TARGET].to_numpy()
    if shares is not None:
        labels = np.unique(table.frame[TARGET])
        return Scores(accuracy_score(truth, said), log_loss(truth, shares, labels=labels))
    spread = table.frame[TARGET].std()
    return Scores(r2_score(truth, said), float(np.sqrt(np.mean((said - truth) ** 2))) / spread)


class Kept:
    """The scores of halves, and the file that they are added to as they come, if there is one.

    Args:
        path: of that file, a JSON list a line, with the seconds and CPU-seconds that it took.
        limit: seconds that a search may take; searches of another length are other scores.
    """

    def __init__(self, path: Path | None, limit: float | None) -> None:
        self.path, self.limit = path, limit
        self.lines = path.read_text().splitlines() if path and path.exists() else []
        found = map(json.loads, self.lines)
        self.found = {tuple(key): Scores(*scores) for key, scores, _ in found}

    def once(
        self, table: str, contestant: str, seed: int, half: int, measured: Callable[[], Scores]
    ) -> Scores:
        """What is known of this half, or what is measured now."""
        limit = self.limit if contestant == "search" else None
        key = (table, contestant, limit, seed, half)
        if key not in self.found:
            start = time.monotonic(), time.process_time()
            self.found[key] = measured()
            taken = time.monotonic() - start[0], time.process_time() - start[1]
            self.lines.append(json.dumps([key, self.found[key], taken]))
            if self.path is not None:  # as a whole: a kill leaves the old file or the new one
                written = self.path.with_name(self.path.name + ".new")
                written.write_text("".join(f"{line}\n" for line in self.lines))
                written.replace(self.path)
        return self.found[key]


def contest(
    name: str, contestants: Mapping[str, Contestant], seed: int, half: int, kept: Kept
) -> dict[str, Scores]:
    """Contestant -> its scores on a half of a table, the same half for all of them."""
    table = TABLES[name]()
    kind = StratifiedKFold if table.is_class else KFold
    halves = kind(FOLDS, shuffle=True, random_state=seed)
    train, test = list(halves.split(table.frame, table.frame[TARGET]))[half]
    return {
        one: kept.once(
            name, one, seed, half, partial(measure, contestant, table, train, test, seed)
        )
        for one, contestant in contestants.items()
    }


class Gap(NamedTuple):
    """Mean difference of pairs, its corrected interval, and the p-value of the plain t-test."""

    mean: float
    low: float
    high: float
    p_value: float


def corrected_gap(ours: Sequence[float], peer: Sequence[float], *, ratio: float = 1.0) -> Gap:
    """Ours minus the peer's, with the interval of Nadeau and Bengio (2003).

    Args:
        ours: n scores.
        peer: n scores on the same halves, in the same order.
        ratio: test rows over training rows.
    """
    differences = np.subtract(ours, peer)
    n, std = len(differences), differences.std(ddof=1)
    half = stats.t.ppf(0.975, n - 1) * np.sqrt(1 / n + ratio) * std
    mean = differences.mean()
    p = stats.t.sf(abs(mean) / (std / np.sqrt(n)), n - 1) * 2 if std else float(mean == 0)
    return Gap(mean, mean - half, mean + half, p)


def compare(
    name: str, found: Mapping[str, Sequence[Scores]], ours: str, *, loss: bool
) -> list[dict[str, Any]]:
    """One row a peer: what ours has more than it, and what that says."""
    which = "loss" if loss else "score"
    scores = {one: [getattr(score, which) for score in many] for one, many in found.items()}
    rows = []
    for peer, theirs in scores.items():
        if peer in OURS:
            continue
        gap = corrected_gap(scores[ours], theirs)
        low, high = (-gap.high, -gap.low) if loss else (gap.low, gap.high)
        verdict = "worse" if high < 0 else "better" if low > 0 else "not decided"
        rows.append(
            {
                "table": name,
                "ours": ours,
                "peer": peer,
                "score": float(np.mean(scores[ours])),
                "peer_score": float(np.mean(theirs)),
                "gap": gap.mean,
                "interval": f"{gap.low:+.3f} .. {gap.high:+.3f}",
                "p": gap.p_value,
                "verdict": verdict,
            }
        )
    return rows


def mean_ranks(
    all_found: Mapping[str, Mapping[str, Sequence[Scores]]], *, loss: bool
) -> list[dict[str, Any]]:
    """Contestant -> its mean rank over tables, 1 the best, by its mean over the halves."""
    which, sign = ("loss", 1) if loss else ("score", -1)
    means = {
        table: {one: np.mean([getattr(score, which) for score in many]) for one, many in f.items()}
        for table, f in all_found.items()
    }
    names = list(next(iter(means.values())))
    ranks = [stats.rankdata([sign * of[name] for name in names]) for of in means.values()]
    rows = [
        {"contestant": name, "rank": float(np.mean([one[place] for one in ranks]))}
        | {table: float(of[name]) for table, of in means.items()}
        for place, name in enumerate(names)
    ]
    return sorted(rows, key=lambda row: row["rank"])


GAPS = {
    "table": ("table", ""),
    "ours": ("ours", ""),
    "peer": ("peer", ""),
    "mean": ("score", ".4f"),
    "peer mean": ("peer_score", ".4f"),
    "gap": ("gap", "+.4f"),
    "corrected interval": ("interval", ""),
    "p <": ("p", ".2g"),
    "verdict": ("verdict", ""),
}


def _part(text: str) -> slice:
    """Of a list, the I-th of N parts: every N-th from the I-th on."""
    place, parts = map(int, text.split("/"))
    if not 1 <= place <= parts:
        raise ValueError(text)
    return slice(place - 1, None, parts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--rounds", type=int, default=5, help="halvings of each table (5)")
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, help="contestants (all)")
    parser.add_argument("--search", type=float, metavar="SECONDS", help="search over models too")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="scores as they come")
    parser.add_argument("--part", type=_part, metavar="I/N", help="measure these halves alone")
    add_json_option(parser)
    options = parser.parse_args()
    chosen = {name: CONTESTANTS[name] for name in options.only or CONTESTANTS}
    if options.search is not None:
        chosen["search"] = _search_here(options.search)
    all_found: dict[str, dict[str, list[Scores]]] = {
        name: {one: [] for one in chosen} for name in options.tables
    }
    kept, start = Kept(options.keep, options.search), time.process_time()
    halves = list(product(range(options.rounds), options.tables, range(FOLDS)))
    for seed, name, half in halves[options.part or slice(None)]:
        for one, scores in contest(name, chosen, seed, half, kept).items():
            all_found[name][one].append(scores)
        if not options.json:
            cpu = time.process_time() - start
            print(f"{seed}, {name}, half {half}: {cpu:.0f} CPU-s", flush=True)
    if options.part:
        return
    columns = {"contestant": ("contestant", ""), "mean rank": ("rank", ".2f")}
    columns |= {name: (name, ".3f") for name in options.tables}
    for loss, measured in ((False, "scores, higher is better"), (True, "losses, lower is better")):
        gaps = [
            row
            for name, found in all_found.items()
            for ours in OURS
            if ours in found
            for row in compare(name, found, ours, loss=loss)
        ]
        show(gaps, GAPS, title=f"gaps of {measured}", as_json=options.json)
        ranks = mean_ranks(all_found, loss=loss)
        show(ranks, columns, title=f"means of {measured}", as_json=options.json)
        if not options.json:
            worse = [
                f"{row['ours']} on {row['table']}, {row['peer']}" for row in gaps if _lost(row)
            ]
            print(f"\nworse beyond the interval: {'; '.join(worse) or 'nowhere'}")


def _lost(row: Mapping[str, Any]) -> bool:
    return str(row["verdict"]) == "worse"


if __name__ == "__main__":
    main()
