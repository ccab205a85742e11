"""Mutants that no test can kill, because they do what the code does: named, each with its reason.

A row is matched by the text of the source and not by its line, so that it stays where code moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from tests.mutants.mutant import Mutant


@dataclass(frozen=True)
class Equivalent:
    """One change that changes nothing.

    Args:
        file: "core/files/storage.py", or a pattern of such names.
        change: the change as it is reported, or a pattern.
        why: the reason.
        within: a part of the statement, where the change alone is not clear.
    """

    file: str
    change: str
    why: str
    within: str = ""

    def is_of(self, file: str) -> bool:
        """Whether it may speak of mutants of this file."""
        return fnmatch(file, self.file)

    def matches(self, mutant: Mutant) -> bool:
        """Whether this row speaks of this mutant."""
        same_change = self.change == mutant.change or fnmatch(mutant.change, self.change)
        return self.is_of(mutant.file) and same_change and self.within in mutant.before


EQUIVALENT = (
    Equivalent(
        "core/seeding.py",
        "if torch.accelerator.current_accelerator() is None: -> if False:",
        "torch.manual_seed seeds the same generator, and devices that are not there",
    ),
    Equivalent(
        "core/files/storage.py",
        "0 -> 1",
        "a folder ends with its manifest, for which there must be more room than one byte",
        within="needs: int=0",
    ),
    Equivalent(
        "core/terminal/console.py",
        "'left' -> 'XXleftXX'",
        "rich puts a title at the left for every word but center, right and full",
    ),
    Equivalent(
        "data/augment/cutout.py",
        "(places - (first + (side - 1) / 2)).abs_() > side / 2 -> *>= side / 2",
        "whole pixels lie half a pixel inside or outside of the square, never on its edge",
    ),
    Equivalent(
        "data/checkup/duplicates.py",
        "1 -> 2",
        "-2 as well as -1 is below every class, and a group more has no rows",
        within="highest = np.full(groups.max() + 1, -1)",
    ),
    Equivalent(
        "data/checkup/raw_source.py",
        "'biuf' -> 'XXbiufXX'",
        "numpy has no kind of number X, so the longer string holds the same kinds",
    ),
    Equivalent(
        "data/files/download.py",
        "2 -> 3",
        "how many bytes are read at a time changes memory, and no result",
        within="CHUNK =",
    ),
    Equivalent(
        "data/fingerprint.py",
        "flat.shape[1] % WORD -> flat.shape[1] * WORD",
        "what is whole already is padded by nothing",
    ),
    Equivalent(
        "data/images/encoder.py",
        "1 -> 2",
        "a scale of 2 has as many digits before the point as one of 1",
        within="readable(mean, 1)",
    ),
    Equivalent(
        "data/images/isbi.py",
        ":SLICES -> :",
        "masks are read as further images, of which no part takes one",
        within="images, masks =",
    ),
    Equivalent(
        "data/input_profile.py",
        "22 -> 23",
        "how many numbers are looked at together changes memory, and no result",
        within="STRETCH =",
    ),
    Equivalent(
        "data/input_profile.py",
        "2 -> 3",
        "how many numbers are looked at together changes memory, and no result",
        within="STRETCH =",
    ),
    Equivalent(
        "data/loading/loader.py",
        "if self.world == 1: -> if False:",
        "the only rank takes every row of a batch; asking first saves the slices",
    ),
    Equivalent(
        "data/series/encoder.py",
        ":width -> :",
        "decoding takes the numbers of its own columns, which come first, and no others",
        within="self.past.decode",
    ),
    Equivalent(
        "data/series/time_order.py",
        "for date in dates if date is not None -> for date in dates",
        "a missing time was refused before, and what is no date by dates_of: the type alone asks",
    ),
    Equivalent(
        "data/series/time_order.py",
        "1 -> 2",
        "-2 as well as -1 comes before the first row, which is 0",
        within="latest, before = (-1, '')",
    ),
    Equivalent(
        "data/tables/cells.py",
        "raise AssertionError('every cell is a number') -> pass",
        "not reached: who asks has seen that a cell is no number",
    ),
    Equivalent(
        "data/tables/cells.py",
        "if not text[:1].isdigit() or form[2] not in text: -> if False:",
        "no form of a date begins with anything else; asking first saves time",
    ),
    Equivalent(
        "data/tables/cells.py",
        "not text[:1].isdigit() or form[2] not in text -> "
        "not text[:1].isdigit() and form[2] not in text",
        "no form of a date begins with anything else; asking first saves time",
    ),
    Equivalent(
        "data/tables/delimited.py",
        "return f'{name}:{begin}: {error}' -> return None",
        "not reached: csv's strict reader knows no further error than the three told apart",
    ),
    Equivalent(
        "data/tables/delimited.py",
        "if 'expected after' in error: -> if True:",
        "csv's strict reader knows no further error than the three that are told apart",
    ),
    Equivalent(
        "data/tables/frames.py",
        "'.' -> 'XX.XX'",
        "rstrip takes letters, in any order: no message of pyarrow ends in X",
        within="rstrip('.')",
    ),
    Equivalent(
        "data/tables/targets.py",
        "0 -> 1",
        "one training row has no feature that varies and was refused: the second is there too",
        within="(targets == targets[0])",
    ),
    Equivalent(
        "data/tables/targets.py",
        "if table.numbers(column) is not None: -> if False:",
        "where every cell is a number, so is every share of them; no cell at all is refused",
    ),
    Equivalent(
        "data/text/subword_tokenizer.py",
        "self._library.decode(shown, skip_special_tokens=False) -> self._library.decode(shown)",
        "no token is special to the library",
    ),
    Equivalent(
        "data/text/tokenizer.py",
        "False -> True",
        "a method without a body: each kind of tokenizer has a default of its own",
        within="def fit(cls",
    ),
    Equivalent(
        "data/text/*_tokenizer.py",
        "return False -> return None",
        "it is asked for by `if` and by `not`, to which None is False",
    ),
    Equivalent(
        "metrics/ranking.py",
        "*",
        "how many columns are ranked together changes memory, and no result",
        within="NUMBERS_AT_ONCE =",
    ),
    Equivalent(
        "metrics/ranking.py",
        "F.pad(is_new[:, 1:], (0, 1), value=True) -> F.pad(is_new[:, 1:], (0, 1))",
        "what is not the last of a tie gets the number of samples, which the last of all gets too",
    ),
    Equivalent(
        "metrics/samples.py",
        "off[row] > ROW_SUM_TOLERANCE -> off[row] >= ROW_SUM_TOLERANCE",
        "a sum near 1 has too few bits for its distance from 1 to be this very number",
    ),
    Equivalent(
        "optimizers/curvature.py",
        "if together is not None: -> if False:",
        "one direction after the other gives the same products, later",
    ),
    Equivalent(
        "optimizers/foreach_optimizer.py",
        "if group['weight_decay']: -> if True:",
        "1 less 0 is 1, and times 1 changes no bit",
    ),
    Equivalent(
        "train/learning_rate_range.py",
        "return False -> return None",
        "who asks whether it is due takes None for no",
    ),
    Equivalent(
        "train/optimizer_state.py",
        "1 -> 2",
        "what an optimizer keeps of a weight has the same names for every size of it",
        within="[1] * weight.ndim",
    ),
    Equivalent(
        "train/saving/checkpoint_store.py",
        "0 -> 1",
        "no step is below 0: by -1 alone other names come first",
        within="else (-1, 0)",
    ),
    Equivalent(
        "train/saving/state_kinds.py",
        "'Given' -> 'XXGivenXX'",
        "the name of a parameter of types is read by people alone",
    ),
    Equivalent(
        "train/step.py",
        "if share != 1.0: -> if True:",
        "times 1 changes no bit",
    ),
    Equivalent(
        "train/*.py",
        "0 -> 1",
        "rows that are not shuffled come in the same batches in every epoch",
        within="loader.epoch(0)",
    ),
    Equivalent(
        "train/watching/symptoms.py",
        "0 -> 1",
        "who is told that no layer is known does not read which",
        within="return (0, None)",
    ),
    Equivalent(
        "train/tasks/per_token.py",
        "if smoothing: -> if True:",
        "smoothed by 0 it is the same loss",
    ),
)


def reason(mutant: Mutant, table: Sequence[Equivalent] = EQUIVALENT) -> str:
    """Why this mutant does what the code does; empty where it does not."""
    return next((row.why for row in table if row.matches(mutant)), "")
