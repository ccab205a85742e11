"""What each setting does to the value: one panel a setting, one point a trial.

Shapes: T trials that are complete.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import COLOURS, log_scale
from netwright.inspection.drawing.ticks import name_ticks
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import short_name
from netwright.inspection.training.search_history import spread_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
WIDTH, HEIGHT = 3.2, 2.6  # inches of a panel


@dataclass(frozen=True, kw_only=True)
class SearchedSetting:
    """One setting in all trials.

    Args:
        name: of the setting.
        values: numbers, or places among the choices (T,).
        choices: their names; empty for numbers.
        ends: the lowest and the highest number that was searched.
        is_log: whether it was drawn on a logarithmic scale.
        is_whole: whether it is a whole number.
    """

    name: str
    values: tuple[float, ...]
    choices: tuple[str, ...] = ()
    ends: tuple[float, float] = (0.0, 1.0)
    is_log: bool = False
    is_whole: bool = False


@dataclass(frozen=True, kw_only=True)
class SettingEffects(View):
    """Settings against values.

    Args:
        metric: what the values are.
        better: whether a higher or a lower value is the better one.
        values: of the complete trials (T,).
        settings: one panel each.
    """

    title: ClassVar[str] = "Setting by setting"

    metric: str
    better: Literal["higher", "lower"]
    values: tuple[float, ...]
    settings: tuple[SearchedSetting, ...]

    @property
    def size(self) -> tuple[float, float]:
        """As many rows of panels as are needed."""
        columns = min(COLUMNS, len(self.settings))
        return (max(4.0, WIDTH * columns), HEIGHT * ceil(len(self.settings) / COLUMNS) + 0.3)

    @property
    def caption(self) -> str:
        """How to read the panels."""
        return (
            f"One point per completed trial: its {self.metric} ({self.better} is better) "
            "against one of its settings, whatever the others were. The large point is the best "
            "trial. Where points lie level, the setting matters little by itself; the search "
            "tries good regions more often, so crowds are not chance."
        )

    def draw(self, figure: "Figure") -> None:
        """A panel a setting, all with the same height of values."""
        columns = min(COLUMNS, len(self.settings))
        rows = ceil(len(self.settings) / COLUMNS)
        grid = figure.subplots(
            rows, columns, sharey=True, squeeze=False, gridspec_kw={"hspace": 0.15}
        )
        for place, axes in enumerate(grid.flat):
            if place < len(self.settings):
                self._draw_setting(axes, self.settings[place])
            else:
                axes.set_axis_off()
        for axes in grid[:, 0]:
            axes.set_ylabel(self.metric)
            spread_values(axes, self.values)

    def _draw_setting(self, axes: "Axes", setting: SearchedSetting) -> None:
        choose = min if self.better == "lower" else max
        best = self.values.index(choose(self.values))
        whole: dict[str, Any] = {"marker": "o", "linestyle": "", "clip_on": False}
        axes.plot(setting.values, self.values, color=COLOURS[0], markersize=4.5, alpha=0.7, **whole)
        axes.plot(setting.values[best], self.values[best], color=COLOURS[1], markersize=8, **whole)
        axes.set_title(short_name(setting.name, 26))
        if setting.choices:
            name_ticks(axes, "x", setting.choices, WIDTH - 0.6)
            axes.set_xlim(-0.5, len(setting.choices) - 0.5)
            return
        if setting.is_log:
            log_scale(axes, "x")
        elif setting.is_whole:
            axes.locator_params(axis="x", integer=True)
        axes.set_xlim(*setting.ends)


def measure_setting_effects(
    values: Sequence[float],
    settings: Sequence[SearchedSetting],
    *,
    metric: str,
    better: Literal["higher", "lower"],
) -> SettingEffects:
    """Set settings against values.

    Args:
        values: of the complete trials (T,).
        settings: each in these trials (T,).
        metric: what the values are.
        better: whether a higher or a lower value is the better one.
    """
    if not values or not settings:
        raise DataError("the effects of settings need a complete trial and a setting, got none")
    for setting in settings:
        if len(setting.values) != len(values):
            raise DataError(
                f"{setting.name} must have a value in each of the {len(values)} trials, "
                f"got {len(setting.values)}"
            )
    return SettingEffects(
        metric=metric, better=better, values=tuple(values), settings=tuple(settings)
    )
