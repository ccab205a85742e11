r"""What word vectors are worth: likeness as people judge it, and analogies.

    likeness:   Spearman's rank correlation of cos(v_a, v_b) with people's mean score of (a, b)
    analogies:  the share of (a, b, c, d) for which d is nearest to b - a + c, the three left out

Only pairs and questions whose words are all known count; how many these are belongs to the score.

Shapes: V words, D features, Q questions.
Source: Finkelstein et al. (2002), WordSim-353; Hill et al. (2015), SimLex-999; Mikolov et al.
(2013), the analogies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netwright.core.checks import is_finite_number
from netwright.core.errors import ConfigError, DataError
from netwright.data.files.locations import find_file
from netwright.data.text.text_files import read_text
from netwright.data.words.word_vectors import WordVectors

FOLDER = "word-similarity"
PUBLISHED = {
    "WordSim-353": "wordsim353.tsv",
    "SimLex-999": "simlex999.txt",
    "analogies": "questions-words.txt",
}
MOST = 30_000  # words, the most common, among which the answer of an analogy is looked for
TOGETHER = 512  # questions that are answered at a time


@dataclass(frozen=True, kw_only=True)
class WordScore:
    """The result of a test, or of a section of one.

    Args:
        test: its name.
        score: Spearman's correlation, or the share of right answers; None where too few words are
            known.
        used: pairs or questions whose words are all known.
        total: of the test.
    """

    test: str
    score: float | None
    used: int
    total: int


def find_tests() -> dict[str, Path]:
    """The published tests by name, from the folders of NETWRIGHT_DATA."""
    found = {name: find_file(FOLDER, file) for name, file in PUBLISHED.items()}
    for name, path in found.items():
        if path is None:
            raise ConfigError(
                f"{name}: no folder of NETWRIGHT_DATA holds {FOLDER}/{PUBLISHED[name]}; put it "
                "there, or give a file of pairs or of analogies"
            )
    return {name: path for name, path in found.items() if path is not None}


def score_file(vectors: WordVectors, name: str, path: Path) -> list[WordScore]:
    """The score on a file: of pairs with people's scores, or of analogies and of their sections."""
    lines = [line for line in read_text(path).splitlines() if line.strip() and line[0] != "#"]
    if not lines:
        raise DataError(f"{path.name}: it is empty, wanted pairs of words or analogies")
    if "\t" in lines[0]:
        return [_likeness(vectors, name, path, lines)]
    return _analogies(vectors, name, path, lines)


def _likeness(vectors: WordVectors, name: str, path: Path, lines: Sequence[str]) -> WordScore:
    """Spearman's correlation of cosines with the scores of the pairs.

    The score is the first number behind the two words; SimLex-999 has more columns, and a head.
    """
    rows, scores = [], []
    head, *rest = ([part.strip() for part in line.split("\t")] for line in lines)
    table = rest if rest and not _numbers(head) else [head, *rest]
    column = next(iter(_numbers(table[0])), 2)
    for cells in table:
        pair, judged = cells[:2], cells[column] if column < len(cells) else ""
        if not _is_number(judged):
            line = "\t".join(cells)
            raise DataError(f"{path.name}: {line!r} is not word, word and score with tabs between")
        places = [vectors.place(word) for word in pair]
        if None not in places:
            rows.append(places)
            scores.append(float(judged))
    if len(rows) < 2:
        return WordScore(test=name, score=None, used=len(rows), total=len(table))
    from scipy.stats import rankdata  # noqa: PLC0415 - it costs half a second

    first, second = np.array(rows, dtype=np.int64).T
    cosines = (vectors.units[first] * vectors.units[second]).sum(axis=1)
    ranks = np.stack([rankdata(cosines), rankdata(scores)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    spread = float(np.sqrt((ranks**2).sum(axis=1).prod()))
    score = float((ranks[0] * ranks[1]).sum()) / spread if spread else None
    return WordScore(test=name, score=score, used=len(rows), total=len(table))


def _numbers(cells: Sequence[str]) -> list[int]:
    """The columns behind the two words that hold a number."""
    return [place for place, cell in enumerate(cells) if place > 1 and _is_number(cell)]


def _is_number(text: str) -> bool:
    try:
        return is_finite_number(float(text))
    except ValueError:
        return False


def _analogies(
    vectors: WordVectors, name: str, path: Path, lines: Sequence[str]
) -> list[WordScore]:
    """The share of right answers in all, then of each section, which a line with ":" opens."""
    units = vectors.units[:MOST]
    sections: dict[str, list[list[str]]] = {}
    section = ""
    for line in lines:
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        words = line.split()
        if len(words) != 4:
            raise DataError(f"{path.name}: {line!r} has {len(words)} words, an analogy has 4")
        sections.setdefault(section, []).append(words)
    if not sections:
        raise DataError(f"{path.name}: it has no analogy")
    found: dict[str, tuple[int, int, int]] = {}
    for title, questions in sections.items():
        places = [[vectors.place(word) for word in one] for one in questions]
        known = [one for one in places if all(p is not None and p < len(units) for p in one)]
        rows = np.array(known, dtype=np.int64).reshape(-1, 4)
        right = 0
        for begin in range(0, len(rows), TOGETHER):
            part = rows[begin : begin + TOGETHER]
            near = (units[part[:, 1]] - units[part[:, 0]] + units[part[:, 2]]) @ units.T  # (Q, V)
            np.put_along_axis(near, part[:, :3], -np.inf, axis=1)
            right += int((near.argmax(axis=1) == part[:, 3]).sum())
        found[title] = (right, len(rows), len(questions))
    right, used, total = (sum(column) for column in zip(*found.values(), strict=True))
    return [
        _share(name, right, used, total),
        *(_share(f"{name}: {title}", *counts) for title, counts in found.items() if title),
    ]


def _share(test: str, right: int, used: int, total: int) -> WordScore:
    """The share of right answers."""
    return WordScore(test=test, score=right / used if used else None, used=used, total=total)
