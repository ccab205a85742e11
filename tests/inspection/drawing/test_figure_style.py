"""The style is one figure's: it leaves matplotlib as it was, and draws the same bytes anywhere."""

import io

import matplotlib as mpl
import pytest
from matplotlib.colors import to_rgb, to_rgba

from netwright.inspection.drawing.figure_style import (
    COLOURS,
    colour_of,
    log_scale,
    new_figure,
    styled,
    white_to_blue,
)


def test_the_users_settings_come_back() -> None:
    with mpl.rc_context({"font.size": 33.0, "text.parse_math": True}):
        with styled():
            assert mpl.rcParams["font.size"] == 11.0
            assert not mpl.rcParams["text.parse_math"]
        assert mpl.rcParams["font.size"] == 33.0
        assert mpl.rcParams["text.parse_math"]


def test_the_users_settings_do_not_leak_in() -> None:
    with mpl.rc_context({"lines.marker": "o", "axes.facecolor": "black"}), styled():
        assert mpl.rcParams["lines.marker"] == "None"
        assert mpl.rcParams["axes.facecolor"] == "white"


def test_words_of_a_legend_stand_on_paper_through_which_lines_are_seen() -> None:
    with styled():
        axes = new_figure(4, 3).subplots()
        axes.plot([0, 1], label="a line")
        frame = axes.legend().get_frame()
    assert frame.get_visible() and 0.5 < (frame.get_alpha() or 0.0) < 0.9
    assert to_rgb(frame.get_facecolor()) == (1.0, 1.0, 1.0)
    assert to_rgba(frame.get_edgecolor())[3] == 0


def test_the_settings_come_back_after_an_error() -> None:
    before = mpl.rcParams["font.size"]
    with pytest.raises(RuntimeError), styled():
        raise RuntimeError
    assert mpl.rcParams["font.size"] == before


def test_figures_are_in_no_global_list() -> None:
    from matplotlib import pyplot

    with styled():
        new_figure(2, 2).subplots()
    assert not pyplot.get_fignums()


def test_dollars_are_text() -> None:
    buffer = io.BytesIO()
    with styled():
        figure = new_figure(2, 2)
        figure.subplots().set_title(r"$\frac{")
        figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")  # as a formula it would be refused


def test_letters_that_the_font_lacks_are_no_warning() -> None:
    buffer = io.BytesIO()
    with styled():
        figure = new_figure(2, 2)
        figure.subplots().set_title("猫")
        figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")


def test_log_ticks_are_plain_numbers() -> None:
    with styled():
        axes = new_figure(3, 2).subplots()
        axes.plot([0.001, 1000.0], [1.0, 2.0])
        log_scale(axes, "x")
        axes.figure.savefig(io.BytesIO(), format="png")  # type: ignore[union-attr]
        texts = [label.get_text() for label in axes.get_xticklabels()]
    assert {"0.001", "1000"} <= set(texts)
    assert axes.get_yscale() == "linear"


@pytest.mark.parametrize(
    ("ends", "named"), [((8, 64), ["10", "20", "50"]), ((1, 1e5), ["1", "10", "100", "1000"])]
)
def test_short_logarithmic_axes_have_ticks_within_their_decade(
    ends: tuple[float, float], named: list[str]
) -> None:
    with styled():
        figure = new_figure(4, 3)
        axes = figure.subplots()
        log_scale(axes, "x")
        axes.set_xlim(*ends)
        figure.savefig(io.BytesIO(), format="png")
        ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        small = zip(axes.get_xticks(minor=True), axes.get_xticklabels(minor=True), strict=True)
    shown = sorted(
        (float(label.get_text()), label.get_text())
        for place, label in (*ticks, *small)
        if label.get_text() and ends[0] <= place <= ends[1]
    )
    assert [text for _, text in shown][: len(named)] == named


def test_the_map_from_white_to_blue_has_a_colour_for_what_is_missing() -> None:
    colours = white_to_blue("#ff0000")
    assert colours(0.0) == (1, 1, 1, 1)
    assert colours(float("nan")) == (1, 0, 0, 1)
    light = [sum(colours(share)[:3]) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert light == sorted(light, reverse=True)


def test_colours_repeat_in_order() -> None:
    assert [colour_of(index) for index in range(12)] == [*COLOURS, *COLOURS[:2]]
