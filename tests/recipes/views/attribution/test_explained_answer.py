"""Which answer is explained: the likeliest, or the one that is asked for, in the run's words."""

from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.views.attribution.explained_answer import (
    AnswerConfig,
    explained_answer,
    shown_input,
    training_mean,
)
from netwright.recipes.views.inside.embedding_map import EMBEDDING_MAP
from netwright.recipes.views.subject import Subject

SMALL: dict[str, Any] = {"layers": 1, "heads": 1, "width": 8, "epochs": 1, "quiet": True}


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    folder = tmp_path_factory.mktemp("language")
    path = folder / "words.txt"
    path.write_text("the quick fox " * 40)
    return nw.fit("elman", path, window=6, hidden=4, epochs=1, out=folder / "run", quiet=True)


def subject(run: nw.Run) -> Subject:
    return Subject(run, *run.data_at_hand())


def test_the_likeliest_class_is_explained_unless_another_is_asked_for(moons_run: nw.Run) -> None:
    inputs = subject(moons_run).example(3).inputs
    likeliest = int(moons_run.task.predictions(moons_run.model(inputs)).argmax())
    names = moons_run.spec.class_names
    answer = explained_answer(moons_run, inputs, AnswerConfig())
    assert answer.words == f'the class "{names[likeliest]}"'
    assert answer.of(torch.tensor([[3.0, 5.0]])).item() == (3, 5)[likeliest]
    other = explained_answer(moons_run, inputs, AnswerConfig(answer=names[1 - likeliest]))
    assert other.where.tolist() == [likeliest == 1, likeliest == 0]
    with pytest.raises(ConfigError, match=r"^unknown answer '7'; there are 0, 1$"):
        explained_answer(moons_run, inputs, AnswerConfig(answer="7"))


def test_of_a_text_the_last_place_is_explained_or_the_one_asked_for(language: nw.Run) -> None:
    inputs = subject(language).example(0).inputs
    last = explained_answer(language, inputs, AnswerConfig())
    assert last.words.endswith("after place 5")
    assert last.where.nonzero()[:, 0].tolist() == [5]
    second = explained_answer(language, inputs, AnswerConfig(place=1, answer="x"))
    assert second.words == '"x" after place 1'
    with pytest.raises(
        ConfigError, match=r"^place must be from 0 to 5, the tokens there are, got 6$"
    ):
        explained_answer(language, inputs, AnswerConfig(place=6))


def test_of_a_translation_the_place_is_one_of_the_answer(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n": 40, "hidden": 4, "embedding": 3, "epochs": 1}
    run = nw.fit("encoder-decoder", "reverse", out=tmp_path / "run", quiet=True, **settings)
    answer = explained_answer(run, subject(run).example(0).inputs, AnswerConfig())
    assert answer.words.endswith('" at place 0 of the answer')


def test_of_a_span_its_beginning_and_its_end_are_explained(tmp_path: Path) -> None:
    rows = [f'Who?,"{name} is in Rome, {name} is.",{name}' for name in "ABCDEFGHIJ"]
    (tmp_path / "asked.csv").write_text("\n".join(["question,context,answer", *rows * 2]))
    run = nw.fit("bert", tmp_path / "asked.csv", out=tmp_path / "run", **SMALL)
    inputs = subject(run).example(0).inputs
    answer = explained_answer(run, inputs, AnswerConfig())
    with torch.no_grad():
        output = run.model(inputs)
    ((first, last),) = run.task.answers(run.model, inputs, output).tolist()
    assert answer.where.nonzero().tolist() == [[first, 0], [last, 1]]
    said = run.task.predictions(output)
    expected = float(said[0, first, 0] + said[0, last, 1]) / 2
    assert float(answer.of(said)) == pytest.approx(expected)
    assert answer.words.startswith('the beginning and the end of "')
    for asked in (AnswerConfig(answer="Rome"), AnswerConfig(place=1)):
        with pytest.raises(ConfigError, match=r"^the predicted span is the one explained"):
            explained_answer(run, inputs, asked)
    with pytest.raises(ConfigError, match=r"set of=tokens$"):
        EMBEDDING_MAP.show(subject(run), {})


def test_of_masked_text_a_token_that_is_masked_is_explained(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("the quick fox is here\n\nthe dull dog is not\n\n" * 90)
    run = nw.fit("bert", tmp_path / "book.txt", window=15, out=tmp_path / "run", **SMALL)
    inputs = subject(run).example(0).inputs
    mask = run.spec.vocab_size - 1
    first = inputs[0].tolist().index(mask)
    answer = explained_answer(run, inputs, AnswerConfig())
    assert answer.words.endswith(f"at place {first}")
    assert answer.where.nonzero()[:, 0].tolist() == [first]
    shown = shown_input(run, inputs, "it")
    assert (shown.kind, shown.names[first]) == ("tokens", "[MASK]")
    nothing = inputs.masked_fill(inputs == mask, 5)
    assert explained_answer(run, nothing, AnswerConfig()).words.endswith("at place 0")


def test_inputs_are_shown_by_their_names(moons_run: nw.Run, language: nw.Run) -> None:
    features = shown_input(moons_run, subject(moons_run).example(0).inputs, "it")
    assert (features.kind, features.names) == ("features", moons_run.spec.feature_names)
    tokens = shown_input(language, subject(language).example(0).inputs, "it")
    assert tokens.kind == "tokens"
    assert len(tokens.names) == 6
    assert " " not in tokens.names  # a space is made visible


def test_the_mean_is_that_of_the_training_rows(moons_run: nw.Run, tmp_path: Path) -> None:
    mean = training_mean(subject(moons_run))
    torch.testing.assert_close(mean, moons_run.data.train.inputs.cpu().mean(dim=0))
    with pytest.raises(ConfigError, match=r"^this view needs the run's data: it is away$"):
        training_mean(Subject(moons_run, None, "it is away"))
