"""CoNLL-U: words and tags, without comments, joined words and words that are not written."""

import gzip
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.text.conllu import Sentence, parse_conllu, read_conllu

REST = "\tX\t_\t_\t_\t_\t_\t_"
TEXT = f"""# text = Don't go
1-2\tDon't\t_\t_{REST[2:]}
1\tDo\tdo\tAUX{REST[2:]}
2\tn't\tnot\tPART{REST[2:]}
2.1\tever\tever\tADV{REST[2:]}
3\tgo\tgo\tVERB{REST[2:]}

1\tYes\tyes\tINTJ{REST[2:]}"""


def test_words_and_tags_are_read(tmp_path: Path) -> None:
    wanted = [
        Sentence(words=("Do", "n't", "go"), tags=("AUX", "PART", "VERB")),
        Sentence(words=("Yes",), tags=("INTJ",)),
    ]
    assert parse_conllu("x", TEXT) == wanted
    (tmp_path / "x.conllu.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert read_conllu(tmp_path / "x.conllu.gz") == wanted


def test_rows_of_another_form_are_refused_by_their_line() -> None:
    with pytest.raises(DataError, match=r"^x:2: wanted 10 fields with tabs between them, got 3$"):
        parse_conllu("x", "# comment\n1\tDo\tAUX\n")
    with pytest.raises(DataError, match=r"^x: there is no sentence$"):
        parse_conllu("x", "# comment\n\n")
