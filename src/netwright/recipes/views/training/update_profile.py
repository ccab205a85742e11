"""The view `profile` of a run: where the time and the memory of an update went."""

from netwright.core.card import Card
from netwright.core.config import NoSettings
from netwright.core.errors import ConfigError
from netwright.core.learner import Learner
from netwright.inspection.training.update_profile import UpdateProfile
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.subject import Subject
from netwright.train.profiling.batch_work import measure_work
from netwright.train.profiling.hardware_rates import measure_rates
from netwright.train.profiling.profile_file import FILE, read_profile


def _found(subject: Subject) -> UpdateProfile | None:
    folder = subject.run.folder
    return None if folder is None else read_profile(folder / FILE)


def _measure(subject: Subject, _: NoSettings) -> UpdateProfile:
    profile = _found(subject)
    if profile is None:
        raise ConfigError(_refusal(subject))
    return profile


def _refusal(subject: Subject) -> str:
    model = subject.run.model
    if isinstance(model, Learner | Ensemble):
        return f"a profile is of updates by gradients, {subject.name} has its own learning rule"
    if _found(subject) is None:
        return "this run was not profiled: train it with --profile, or profile=True"
    return ""


PROFILE = ViewEntry(
    card=Card(
        sentence="Where the time and the memory of an update go: by part, by operation and by "
        "kind, beside what the hardware can do.",
        formula=r"u = \frac{F}{t\, R}",
        symbols={
            "u": "model FLOP utilisation",
            "F": "floating-point operations of an update: matrix products, convolutions, attention "
            "and recurrent layers, forward and backward, with what is recomputed",
            "t": "seconds of an update",
            "R": "operations a second that products of large matrices reach on this hardware, "
            "measured",
        },
        source='Chowdhery et al., "PaLM: Scaling Language Modeling with Pathways" (2022), '
        "appendix B",
    ),
    measure=_measure,
    refusal=_refusal,
    data="unused",
    section="speed",
    code=(measure_work, measure_rates),
)
