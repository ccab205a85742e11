"""The word vectors of a run or a file, and what is asked of them."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError
from netwright.data.text.tokenizer import SPECIALS
from netwright.data.words.vector_files import VectorFormat, load_vectors, save_vectors
from netwright.data.words.word_tests import find_tests, score_file
from netwright.data.words.word_vectors import WordVectors
from netwright.models.model import Model
from netwright.recipes.run.run import Run, open_run
from netwright.recipes.saved.take_vectors import tokens_read

FORMATS: tuple[VectorFormat, ...] = get_args(VectorFormat)
QUESTIONS = {  # how many words, or files; 0: any number
    **{"similar": 1, "analogy": 3, "odd-one-out": 0, "save": 1},
    "evaluate": 0,
}


def open_words(source: Path) -> WordVectors:
    """The vectors of a run folder, or of a file."""
    return vectors_of(open_run(source)) if source.is_dir() else load_vectors(source)


def vectors_of(run: Run) -> WordVectors:
    """The vectors of the words that a run's model has learned; special tokens have none."""
    table = run.model.word_table() if isinstance(run.model, Model) else None
    tokenizer = tokens_read(run.preprocessor)
    if table is None or tokenizer is None:
        raise ConfigError(f"{run!r} has no word vectors: train word2vec, or a classifier of texts")
    first, tokens = len(SPECIALS), tokenizer.tokens
    rows = table[first : len(tokens)].detach().cpu().float()
    return WordVectors(words=tuple(tokens[first:]), vectors=rows.numpy())


def ask_words(
    vectors: WordVectors, question: str, given: Sequence[str], *, count: int, form: str
) -> Any:
    """Answer a question: words with their cosines, one word, where the file is, or scores."""
    if question not in QUESTIONS:
        hint = nearest(question, QUESTIONS) or f"; there are {', '.join(QUESTIONS)}"
        raise ConfigError(f"unknown question {question!r}{hint}")
    wanted = QUESTIONS[question]
    if wanted and len(given) != wanted:
        words = "argument" if wanted == 1 else "arguments"
        raise ConfigError(f"{question} takes {wanted} {words}, got {len(given)}")
    if question == "odd-one-out":
        return vectors.odd_one_out(given)
    if question == "evaluate":
        tests = _named(given) or find_tests()
        scores = [score_file(vectors, name, path) for name, path in tests.items()]
        return [asdict(score) for one in scores for score in one]
    if question == "save":
        if form not in FORMATS:
            raise ConfigError(f"format must be one of {', '.join(FORMATS)}, got {form!r}")
        save_vectors(Path(given[0]), vectors, form)
        return f"vectors: {given[0]}"
    found = (
        vectors.similar(given[0], count)
        if question == "similar"
        else vectors.analogy(given[0], given[1], given[2], count)
    )
    return [{"word": word, "cosine": cosine} for word, cosine in found]


def _named(files: Sequence[str]) -> dict[str, Path]:
    """Files by their names, or in full where two have the same one."""
    names = [Path(file).name for file in files]
    return {
        name if names.count(name) == 1 else file: Path(file)
        for name, file in zip(names, files, strict=True)
    }


def answer_lines(answer: Any) -> list[str]:
    """An answer as lines to read."""
    if isinstance(answer, str):
        return [answer]
    return [
        f"{one['word']:<20} {one['cosine']:.4f}" if "word" in one else _score_line(one)
        for one in answer
    ]


def _score_line(found: dict[str, Any]) -> str:
    score = "-    " if found["score"] is None else f"{found['score']:.3f}"
    return f"{found['test']:<40} {score}  ({found['used']:,} of {found['total']:,} are known)"
