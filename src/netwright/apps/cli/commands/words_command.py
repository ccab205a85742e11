"""`netwright words`: look at the vectors that a run, or a file, has of words."""

from pathlib import Path
from typing import Annotated

import typer


def words(
    source: Annotated[
        Path, typer.Argument(metavar="RUN", help="The run folder, or a file of word vectors.")
    ],
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="similar, analogy, odd-one-out, evaluate or save."),
    ],
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD...", help="Words; the file to save; files to evaluate on."),
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Words to show.")] = 10,
    form: Annotated[
        str, typer.Option("--format", help="Of the file: text, binary or glove.")
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Ask for similar words and analogies, evaluate the vectors, or save them.

    `analogy king man woman` asks for the words nearest to king - man + woman.
    Without a file, `evaluate` takes WordSim-353, SimLex-999 and the analogies of Mikolov et al.
    (2013) from the folder word-similarity of NETWRIGHT_DATA. A file of your own has two words and a
    score per line, separated by tabs, or the four words of an analogy.

    netwright words runs/word2vec-corpus-txt-001 similar king
    netwright words runs/word2vec-corpus-txt-001 analogy king man woman
    netwright words vectors.txt odd-one-out breakfast lunch cereal dinner
    netwright words runs/word2vec-corpus-txt-001 evaluate
    netwright words runs/word2vec-corpus-txt-001 save vectors.txt
    """
    from netwright.core.terminal.console import print_json, print_result
    from netwright.recipes.run.run_words import answer_lines, ask_words, open_words

    answer = ask_words(open_words(source), question, given or (), count=count, form=form)
    if as_json:
        print_json(answer)
        return
    for line in answer_lines(answer):
        print_result(line)
