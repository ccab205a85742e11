"""A finding reads as advice, and travels as plain text."""

from netwright.core.finding import Finding


def test_a_finding_says_what_it_saw_what_to_do_and_where_to_read() -> None:
    finding = Finding(
        illness="constant-column",
        sentence="the column 'planet' is 'earth' in all 60 rows",
        fix="Leave it out with --drop planet",
        see="ridge",
    )
    assert str(finding) == (
        "the column 'planet' is 'earth' in all 60 rows. Leave it out with --drop planet. "
        "(netwright explain ridge)"
    )
    assert finding.to_json()["illness"] == "constant-column"
    assert Finding(**finding.to_json()) == finding
