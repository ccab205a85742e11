"""In which forms each kind of run is asked."""

from pathlib import Path

import netwright as nw
from netwright.apps.server.accepted_forms import Accepted, accepted_forms, can_generate


def test_each_run_takes_what_suits_its_inputs(folders: dict[str, Path]) -> None:
    found = {name: accepted_forms(nw.open_run(folder)) for name, folder in folders.items()}
    assert found["things"] == found["sizes"] == Accepted(("rows",), ("text/csv",))
    assert found["texts"] == Accepted(("rows", "texts"), ("text/csv", "text/plain"))
    assert found["reverse"] == found["texts"]
    assert found["pets"] == Accepted(("images",), ("image/*",))
    assert found["iris"] == Accepted(("rows", "inputs"), ("text/csv",))
    assert found["letters"] == Accepted(())


def test_the_forms_are_not_worked_out_for_each_request(folders: dict[str, Path]) -> None:
    run = nw.open_run(folders["iris"])
    assert accepted_forms(run) is accepted_forms(run)


def test_only_a_language_model_generates(folders: dict[str, Path]) -> None:
    assert [name for name, one in folders.items() if can_generate(nw.open_run(one))] == ["letters"]


def test_a_sentence_says_what_to_send() -> None:
    assert Accepted(("rows",), ("text/csv",)).sentence == 'application/json with "rows" or text/csv'
    assert Accepted(("inputs",)).sentence == 'application/json with "inputs"'
