"""Ensembles whose members learn by rules of their own, taught lesson by lesson."""

from typing import Any, cast

from netwright.core.learner import Learner
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble, Lesson


def build(name: str, spec: DataSpec, **settings: Any) -> Ensemble:
    """The ensemble of this name, not yet taught."""
    kind = MODELS.load(name)
    return cast(Ensemble, kind.build(kind.settings(**settings), spec))


def teach(
    model: Ensemble, train: Split, *, val: Split | None = None, seed: int = 0
) -> list[Lesson]:
    """Let every member learn; gives the lessons."""
    lessons = []
    for lesson in model.lessons(train, val, seed):
        for _ in cast(Learner, lesson.member.model).fit_steps(lesson.train, lesson.seed):
            pass
        lessons.append(lesson)
    model.eval()
    return lessons
