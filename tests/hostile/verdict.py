"""What was wrong with the end of a case: nothing, or faults by their names."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.hostile.canary import SECRET
from tests.hostile.case import End
from tests.hostile.jail import Outcome

FAULTS = (
    "traceback",
    "hang",
    "memory",
    "crash",
    "written",
    "deleted",
    "read",
    "escape codes",
    "wrong end",
)
BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
LONGEST_SENTENCE = 10_000  # characters
OUT_OF_MEMORY = re.compile(
    "MemoryError|bad_alloc|not enough memory|Cannot allocate memory|out of memory|"
    "memory allocation of"
)

FOUND_WRONG = re.compile(r"\d+ things? wrong")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How a case ended.

    Args:
        case: its name.
        ends: of each command, refused or harmless, or "" where it was neither.
        faults: the names of what went wrong, with a line on each.
        said: the last line of each command.
        seconds: of the processor, of all commands.
    """

    case: str
    ends: Sequence[str]
    faults: Mapping[str, str] = field(default_factory=dict)
    said: Sequence[str] = ()
    seconds: float = 0.0


def is_escape(character: str) -> bool:
    """Whether a terminal would act on it instead of showing it."""
    control = unicodedata.category(character) == "Cc" and character not in "\n\t"
    return control or character in BIDI


def how_it_ended(outcome: Outcome) -> str:
    """Refused: the last line is the only error, and the code is 1 or 2; harmless: the code is 0.

    What `verify` finds wrong it counts in its last line, without an error.
    """
    lines = outcome.output.decode("utf-8", "replace").rstrip("\n").split("\n")
    errors = [line for line in lines if line.startswith("error: ")]
    if outcome.code in {1, 2} and errors == lines[-1:] and len(errors[0]) < LONGEST_SENTENCE:
        return "refused"
    if outcome.code == 1 and not errors and FOUND_WRONG.fullmatch(lines[-1]):
        return "refused"
    return "harmless" if outcome.code == 0 and not errors else ""


def faults_of(outcome: Outcome, wanted: End) -> dict[str, str]:
    """What was wrong with one command, seen from its terminal."""
    text = outcome.output.decode("utf-8", "replace")
    last = text.rstrip().rsplit("\n", 1)[-1][-300:]
    faults = {}
    if outcome.is_hung:
        faults["hang"] = f"killed with {outcome.code}: {last!r}"
    elif outcome.code < 0:
        faults["crash"] = f"signal {-outcome.code}: {last!r}"
    if "Traceback (most recent call last)" in text and "MemoryError" not in text:
        faults["traceback"] = last
    if OUT_OF_MEMORY.search(text):
        faults["memory"] = last
    escapes = sorted({character for character in text if is_escape(character)})
    if escapes:
        faults["escape codes"] = f"{escapes!a}: {last!r}"
    if SECRET in text:
        faults["read"] = f"the secret was printed: {last!r}"
    ended = how_it_ended(outcome)
    if not faults and (not ended or wanted not in {ended, "either"}):
        faults["wrong end"] = f"{ended or outcome.code} instead of {wanted}: {last!r}"
    return faults
