"""Every check of data that is loaded: rows, classes and labels, each where it applies."""

from netwright.data.checkup.check import Check
from netwright.data.checkup.duplicates import DUPLICATES
from netwright.data.checkup.examination import Examination, examined
from netwright.data.checkup.imbalance import IMBALANCE
from netwright.data.checkup.label_noise import LABEL_NOISE
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.single_rows import SINGLE_ROWS
from netwright.data.checkup.split_leakage import SPLIT_LEAKAGE
from netwright.data.checkup.target_outliers import TARGET_OUTLIERS
from netwright.data.dataset import Data
from netwright.data.loading.stored import StoredSplit, sample_stored

CHECKS: tuple[Check, ...] = (
    SPLIT_LEAKAGE,
    DUPLICATES,
    IMBALANCE,
    SINGLE_ROWS,
    LABEL_NOISE,
    TARGET_OUTLIERS,
)


def look_at_data(data: Data, origin: Origin) -> Examination:
    """Look at the rows that are in memory; of stored ones, at some that are spread evenly."""
    seen, whole = Examination(), data
    if any(isinstance(split, StoredSplit) for _, split in data.splits()):
        sample = sample_stored(data)
        data = sample.shown
        told = filter(None, (sample.described(name) for name, _ in data.splits()))
        seen = Examination(looked_at=tuple(told))
    for check in CHECKS:
        if check.is_for(data):
            looked_through = data if check.reads_inputs else whole
            seen += examined(check.looks_at, check.find(looked_through, origin))
        else:
            seen += Examination(not_looked_at=(f"{check.illness}, which is for {check.scope}",))
    return seen
