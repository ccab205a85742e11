"""CoNLL-U files: a line a word with ten fields, an empty line after each sentence.

    1   From   from   ADP   IN   _   3   case   3:case   _

The second field is the word, the fourth its part of speech. Lines with # are comments; rows whose
number has a dash (several words written as one) or a dot (a word that is not written) are no words.

Source: Nivre et al., "Universal Dependencies v2" (2020).
"""

from dataclasses import dataclass
from pathlib import Path

from netwright.core.errors import DataError
from netwright.data.files.file_content import Allowance
from netwright.data.text.text_files import read_text

CONLLU = (".conllu", ".conllu.gz")
FIELDS = 10


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence as it was read.

    Args:
        words: in their order.
        tags: the tag of each word; empty where they are not known.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]


def read_conllu(path: Path, allowance: Allowance | None = None) -> list[Sentence]:
    """The sentences of a file; the allowance is that of the files that are read together."""
    return parse_conllu(path.name, read_text(path, allowance=allowance))


def parse_conllu(name: str, text: str) -> list[Sentence]:
    """The sentences of a text; a row that has not ten fields is refused by its line."""
    sentences: list[Sentence] = []
    words: list[str] = []
    tags: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if not line.strip():
            if words:
                sentences.append(Sentence(words=tuple(words), tags=tuple(tags)))
            words, tags = [], []
        elif not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) != FIELDS:
                raise DataError(
                    f"{name}:{number}: wanted {FIELDS} fields with tabs between them, got "
                    f"{len(fields)}"
                )
            if fields[0].isdigit():
                words.append(fields[1])
                tags.append(fields[3])
    if not sentences:
        raise DataError(f"{name}: there is no sentence")
    return sentences
