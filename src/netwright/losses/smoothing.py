r"""Label smoothing: the right class gets a little less than all.

    over all classes      t = (1 - eps) [c = y] + eps / C                    as torch has it
    over the others       t_y = 1 - eps,   t_c = eps / (C - 1)  for c != y

The second with eps is the first with eps C / (C - 1).

Shapes: C classes.
Source: Szegedy et al., "Rethinking the Inception Architecture" (2016), section 7.
"""

from typing import Literal

from netwright.core.errors import ConfigError

SmoothOver = Literal["all", "others"]


def as_torch_smoothing(amount: float, num_classes: int, over: SmoothOver) -> float:
    """The eps of torch's form for an amount in either form."""
    if over == "all":
        return amount
    most = (num_classes - 1) / num_classes
    if amount > most:
        raise ConfigError(
            f"label_smoothing over the others must be at most {most:.4g} for {num_classes} "
            f"classes, which is the uniform distribution, got {amount:g}"
        )
    return amount * num_classes / (num_classes - 1)
