"""Examinations add up."""

from netwright.core.finding import Finding
from netwright.data.checkup.examination import Examination, examined


def test_parts_of_a_checkup_add_up_in_their_order() -> None:
    ill = Finding(illness="x", sentence="it is so", fix="Do this", see="mlp")
    seen = examined("first", ill, None) + Examination(not_looked_at=("last",)) + examined("second")
    assert seen == Examination(
        findings=(ill,), looked_at=("first", "second"), not_looked_at=("last",)
    )
