"""The leaderboard: who stands where, and what the gaps say."""

import math

import torch

from netwright.data.dataset import Split
from netwright.recipes.model_search.entrant import Entrant, new_entrant
from netwright.recipes.model_search.leaderboard import standings, table_rows, to_json

SPLIT = Split(inputs=torch.zeros(4, 1), targets=torch.tensor([0, 1, 0, 1]))


def entrant(name: str, losses: list[float], *, left: str = "") -> Entrant:
    """One that answered the first rows with these losses, and always class 1."""
    made = new_entrant(name, 4, 2)
    rows = torch.arange(len(losses))
    answers = torch.tensor([[0.2, 0.8]]).expand(len(losses), 2)
    made.hear(rows, answers, torch.tensor(losses, dtype=torch.float64), 2.0)
    made.left = left
    return made


def test_who_left_stands_below_those_that_finished() -> None:
    left = entrant("mlp", [0.1], left="time ran out after 1 of 5 folds")
    ranked = standings(
        [left, entrant("lda", [3.0, 1.0, 2.0, 2.5]), entrant("svm", [1.0, 1.2, 1.1, 1.3])],
        SPLIT,
        "class",
    )
    assert [one.name for one in ranked] == ["svm", "lda", "mlp"]
    assert ranked[0].gap is None
    assert ranked[0].score == 0.5
    assert math.isclose(ranked[1].gap or 0, (2.0 - 0.2 + 0.9 + 1.2) / 4)
    assert ranked[1].verdict == "undecided"
    assert [one.rows for one in ranked] == [4, 4, 1]
    left = entrant("lda", [3.0, 1.0], left="worse than svm, p = 0.001")
    ranked = standings([left, entrant("mlp", [1.0, 1.2, 1.1, 1.3])], SPLIT, "class")
    assert ranked[1].verdict == "undecided (stopped: worse than svm, p = 0.001)"


def test_a_gap_beyond_doubt_is_called_worse() -> None:
    ranked = standings(
        [entrant("svm", [1.0, 1.2, 1.1, 1.3]), entrant("lda", [9.0, 9.201, 9.1, 9.301])],
        SPLIT,
        "class",
    )
    assert ranked[1].verdict.startswith("worse, p = ")


def test_rows_are_written_for_people_and_for_programs() -> None:
    ranked = standings([entrant("svm", [1.0, 1.2, 1.1, 1.3])], SPLIT, "class")
    assert table_rows(ranked, "class")[0] == {
        "model": "svm",
        "loss": "1.15",
        "accuracy": "0.5000",
        "gap to the best": "",
        "verdict": "best",
        "rows": "4",
        "seconds per fit": "2.0",
    }
    assert to_json(ranked)[0]["interval"] is None


def test_a_model_that_never_began_is_named_with_the_reason() -> None:
    silent = new_entrant("mlp", 4, 2)
    silent.left = "time ran out after 0 of 5 folds"
    ranked = standings([silent, entrant("svm", [1.0, 1.2, 1.1, 1.3])], SPLIT, "class")
    row = table_rows(ranked, "class")[1]
    assert (row["model"], row["verdict"]) == ("mlp", silent.left)
    assert {row["loss"], row["accuracy"], row["seconds per fit"]} == {""}
    assert to_json(ranked)[1]["loss"] is None
