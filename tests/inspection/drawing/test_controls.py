"""Fields that say what they are, and hold whatever they are given as text."""

from netwright.inspection.drawing import controls

BAD = "<script>\"'&"


def test_whatever_is_given_stays_text() -> None:
    made = [
        controls.text_field(BAD, BAD, value=BAD, hint=BAD, shown=BAD),
        controls.long_text_field(BAD, BAD, value=BAD, hint=BAD),
        controls.number_field(BAD, BAD, value=BAD, hint=BAD),
        controls.choice_field(BAD, BAD, {BAD: BAD}, hint=BAD),
        controls.file_field(BAD, BAD, hint=BAD),
        controls.button(BAD, BAD),
        controls.way(BAD, BAD),
        controls.place(BAD, kind=BAD),
        controls.form(BAD),
    ]
    assert all("<script>" not in one and "\"'&" not in one for one in made)


def test_every_field_has_a_label_and_its_hint() -> None:
    made = controls.number_field("lr", "Learning rate", hint="of the optimizer")
    assert '<label for="lr">Learning rate</label>' in made
    assert 'aria-describedby="lr-hint"' in made and '<small id="lr-hint">' in made
    assert "describedby" not in controls.text_field("a", "b")


def test_the_value_is_chosen() -> None:
    made = controls.choice_field("a", "b", ["x", "y"], value="y")
    assert '<option value="y" selected>' in made and '<option value="x">' in made


def test_what_is_live_is_read_out() -> None:
    inner = controls.row(controls.place("b"))
    assert controls.place("a", inner, live=True) == (
        '<div id="a" aria-live="polite"><div class="fields"><div id="b"></div></div></div>'
    )
