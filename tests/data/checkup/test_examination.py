"""Examinations add up."""

from netwright.core.finding import Finding
from netwright.data.checkup.examination import Examination, Undecided, Unseen, examined


def test_parts_of_a_checkup_add_up_in_their_order() -> None:
    ill = Finding(illness="x", sentence="it is so", fix="Do this", see="mlp")
    seen = examined("first", ill, None) + Examination(not_looked_at=("last",)) + examined("second")
    assert seen == Examination(
        findings=(ill,), looked_at=("first", "second"), not_looked_at=("last",)
    )


def test_what_could_not_be_looked_at_or_decided_is_said_to_be_so() -> None:
    assert examined("rows", Unseen("there are none")) == Examination(
        not_looked_at=("rows: there are none",)
    )
    assert examined("rows", Undecided("they may be")) == Examination(
        looked_at=("rows; undecided: they may be",)
    )
