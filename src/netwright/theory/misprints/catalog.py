"""The misprints that can be named, in the order of a course."""

from netwright.theory.misprints.adaptive_rates import ADAPTIVE_RATES
from netwright.theory.misprints.algebra_and_calculus import ALGEBRA_AND_CALCULUS
from netwright.theory.misprints.attention import ATTENTION
from netwright.theory.misprints.convolutions import CONVOLUTIONS
from netwright.theory.misprints.entry import Misprint
from netwright.theory.misprints.gradient_descent import GRADIENT_DESCENT
from netwright.theory.misprints.linear_models import LINEAR_MODELS
from netwright.theory.misprints.networks import NETWORKS
from netwright.theory.misprints.neurons_and_memories import NEURONS_AND_MEMORIES
from netwright.theory.misprints.recurrence import RECURRENCE
from netwright.theory.misprints.regularisation import REGULARISATION

MISPRINTS: tuple[Misprint, ...] = (
    *ALGEBRA_AND_CALCULUS,
    *NEURONS_AND_MEMORIES,
    *LINEAR_MODELS,
    *NETWORKS,
    *GRADIENT_DESCENT,
    *ADAPTIVE_RATES,
    *REGULARISATION,
    *CONVOLUTIONS,
    *RECURRENCE,
    *ATTENTION,
)
