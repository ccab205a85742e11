"""Which metric decides: one that a caller names, or the task's own."""

from netwright.core.errors import ConfigError
from netwright.metrics.catalog import Metric, find_metric, metrics_for
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.task import Task


def choose_metric(name: str | None, task: Task) -> Metric:
    """The metric of this name, or the task's own; it must be for its target."""
    # Of a text the likeliest token alone says little: what is shown does not decide.
    own = "perplexity" if isinstance(task, LanguageModelling) else task.headline
    metric = find_metric(name or own)
    if task.target not in metric.targets:
        known = ", ".join(other.name for other in metrics_for(task.target))
        raise ConfigError(
            f"{metric.name} is not for a target of kind {task.target!r}; there are {known}"
        )
    return metric
