"""What a field of the settings of training says by itself: who depends on it.

A field without a mark is a condition of its run: where it has changed, a run cannot be resumed
exactly. `Resume` says what else a change means, `Heeded` who beside gradient descent depends on the
field, `ConvexSearch` what it means to a convex loss, `Typed` that the command line has an option
for it.
"""

from enum import Enum, auto


class Resume(Enum):
    """What a change of a setting means for a run that is resumed."""

    FREE = auto()  # nothing: it says when a run ends, what it keeps and where it computes
    LENGTH = auto()  # it is a condition where it is the run's length and something depends on that
    IF_GIVEN = auto()  # it is a condition where it is given
    STEERS = auto()  # the optimizer and the schedule get new settings; the memory stays
    REGROUPS = auto()  # the optimizer begins anew, since it has other groups of weights
    READS = auto()  # the epoch begins again, since its batches are others


class Heeded(Enum):
    """Who depends on a setting beside a run by gradient descent."""

    BY_EACH_MEMBER = auto()  # free in a run of its own; what a member of an ensemble learned by
    BY_ANY_RULE = auto()  # a model that learns by a rule of its own heeds it too


class ConvexSearch(Enum):
    """What a setting means where a convex loss is searched for its optimum on all rows at once."""

    IMPOSSIBLE = auto()  # steps are wanted that the search does not take: Adam takes them instead
    OTHER_LOSS = auto()  # likewise, and what is made small is no longer the loss with its L2


class Typed(Enum):
    """How a setting is typed on the command line."""

    AS_OPTION = auto()  # --batch-size 32; the others by --set
