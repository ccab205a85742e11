r"""Penalties on the weights: what L2 and L1 stand for.

    L2  -log N(w; 0, tau^2) = |w|^2 / (2 tau^2) + const: a Gaussian prior
    L1  a corner at 0, where weights stay

Shapes: N examples, D features, R regressions side by side.
Source: Hoerl and Kennard (1970) for ridge; Tibshirani (1996) for the lasso; Bishop, "Pattern
Recognition and Machine Learning" (2006), section 3.3.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.func import grad, jacrev, vmap

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive, Size
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.linear.lasso import Lasso, LassoConfig
from netwright.models.linear.least_squares import solve_least_squares
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, no_violations

PRIOR_SETS = {"quick": 5, "full": 50}
SPREADS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # tau
NEWTON_STEPS = 20  # one is enough for Gaussians


def regression(
    examples: int, weights: Tensor, noise: float, random: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Normal inputs (N, D), and targets (N, 1) that are linear in them but for the noise."""
    x = torch.randn(examples, len(weights), generator=random, dtype=torch.float64)
    own = torch.randn(examples, generator=random, dtype=torch.float64)
    return x, (x @ weights + noise * own).unsqueeze(1)


@dataclass(frozen=True, kw_only=True)
class GaussianPriorConfig(Config):
    """The regression, and the noise on its targets."""

    examples: Annotated[Size, Doc("n, examples")] = 30
    features: Annotated[Size, Doc("D, features of one example")] = 6
    noise: Annotated[Positive, Doc("sigma, standard deviation of the targets' noise")] = 0.5
    gaussian_prior: Annotated[bool, Assumption("the prior on each weight is Gaussian")] = True
    gaussian_noise: Annotated[bool, Assumption("the noise on the targets is Gaussian")] = True


def negative_log_density(z: Tensor, gaussian: bool) -> Tensor:
    """Of independent variables, without constants: Gaussian, or else with lighter tails."""
    return (z.square() / 2 + (0 if gaussian else z**4 / 4)).sum()


def most_probable_weights(
    given: GaussianPriorConfig, x: Tensor, y: Tensor, spreads: Tensor
) -> Tensor:
    """The mode of the posterior by Newton's method, (R, N, D), (R, N), (R,) -> (R, D).

    The bias is free: it has no prior.
    """

    def posterior(parameters: Tensor, inputs: Tensor, targets: Tensor, spread: Tensor) -> Tensor:
        weights, bias = parameters[:-1], parameters[-1]
        residuals = (targets - inputs @ weights - bias) / given.noise
        likelihood = negative_log_density(residuals, given.gaussian_noise)
        return likelihood + negative_log_density(weights / spread, given.gaussian_prior)

    found = torch.zeros(len(x), given.features + 1, dtype=torch.float64)
    for _ in range(NEWTON_STEPS):
        slope = vmap(grad(posterior))(found, x, y, spreads)
        curvature = vmap(jacrev(grad(posterior)))(found, x, y, spreads)
        found = found - torch.linalg.solve(curvature, slope)
    return found[:, :-1]


def measure_gaussian_prior(given: GaussianPriorConfig, seed: int, effort: Effort) -> Verdict:
    """Modes of the posterior against ridge, for narrow and wide priors."""
    random = generator(seed, "prior")
    truth = torch.ones(given.features, dtype=torch.float64)
    sets = [
        regression(given.examples, truth, given.noise, random) for _ in range(PRIOR_SETS[effort])
    ]
    cases = [(x, y, spread) for x, y in sets for spread in SPREADS]
    x, y = torch.stack([x for x, _, _ in cases]), torch.stack([y for _, y, _ in cases])
    spreads = torch.tensor([spread for _, _, spread in cases], dtype=torch.float64)
    modes = most_probable_weights(given, x, y.squeeze(2), spreads)
    ridges = torch.cat(
        [
            # Ours is the penalty on the mean over examples: lambda over n.
            solve_least_squares(x, y, l2=(given.noise / spread) ** 2 / given.examples)[0]
            for x, y, spread in cases
        ]
    )
    shown = slice(0, len(SPREADS))
    return Verdict(
        findings=(
            at_most(
                "largest difference of a weight, most probable against ridge",
                1e-10,
                float((modes - ridges).abs().max()),
                n=len(cases),
            ),
        ),
        chart=ClaimChart(
            x_label="width of the prior, τ",
            y_label="length of the weights, |w|",
            series=(
                predicted("ridge with λ = σ²/τ²", SPREADS, ridges[shown].norm(dim=1)),
                measured("most probable weights", SPREADS, modes[shown].norm(dim=1)),
            ),
            explanation="The narrower the Gaussian prior around 0, the larger the penalty of the "
            "ridge regression that has the same solution.",
            log="x",
        ),
    )


GAUSSIAN_PRIOR = Claim(
    card=Card(
        sentence="An L2 penalty is a Gaussian prior: ridge regression finds the most probable"
        " weights.",
        formula=r"\arg\max_w p(w \mid X, y) = \arg\min_w \|y - Xw\|^2 + \lambda\|w\|^2,"
        r" \quad \lambda = \frac{\sigma^2}{\tau^2}",
        symbols={
            "w": "weights, from N(0, tau^2) each, (D)",
            r"\sigma": "standard deviation of the noise on the targets",
            r"\tau": "standard deviation of the prior",
        },
        source="Bishop (2006), Pattern Recognition and Machine Learning, section 3.3.1",
    ),
    topic="Regularisation",
    kind="theorem",
    settings=GaussianPriorConfig,
    experiment=measure_gaussian_prior,
)

ZERO_SETS = {"quick": 5, "full": 20}
SUBGRADIENT_STEPS = 2000
MOST = 0.8  # of the idle features are to have no weight
FEWEST_IDLE = 20
DEVIATIONS = 1.6  # of an idle feature's correlation by chance; 1 in 9 is larger


@dataclass(frozen=True, kw_only=True)
class ZerosConfig(Config):
    """A regression in which few features matter."""

    examples: Annotated[int, Interval(ge=1, le=5000), Doc("n, examples")] = 200
    features: Annotated[int, Interval(ge=1, le=500), Doc("D, features")] = 100
    relevant: Annotated[Size, Doc("features that the targets depend on, with weight 1")] = 10
    noise: Annotated[Positive, Doc("standard deviation of the targets' noise")] = 1.0
    penalty: Annotated[Positive, Doc("lambda, of the L1 and of the L2 penalty")] = 0.15
    solved_at_the_corner: Annotated[
        bool, Assumption("the solver may stop at 0: a proximal or coordinate step, not a gradient")
    ] = True

    def __post_init__(self) -> None:
        """Refuse too few idle features, and a penalty that is below their correlations by chance.

        What the fit leaves has the noise and the penalty's own shrinking of the relevant weights.
        """
        super().__post_init__()
        if self.features - self.relevant < FEWEST_IDLE:
            raise ConfigError(
                f"relevant must be at most features - {FEWEST_IDLE} = "
                f"{self.features - FEWEST_IDLE}, got {self.relevant}"
            )
        left = math.hypot(self.noise, self.penalty * math.sqrt(self.relevant))
        least = DEVIATIONS * left / math.sqrt(self.examples)
        if self.penalty < least:
            raise ConfigError(
                f"penalty must be at least {least:.3g} for so few examples and so much noise, "
                f"got {self.penalty:g}"
            )


def fit_lasso(penalty: float, x: Tensor, y: Tensor) -> Lasso:
    """The library's lasso, with its path of penalties."""
    spec = DataSpec(inputs="features", input_shape=(x.shape[1],), target="real", num_outputs=1)
    model = Lasso.build(LassoConfig(l1=penalty), spec).double()
    for _ in model.fit_steps(Split(inputs=x, targets=y), seed=0):
        pass
    return model


def subgradient_weights(penalty: float, x: Tensor, y: Tensor) -> Tensor:
    """The same loss by gradient steps with sign(w), which jump over 0 for ever."""
    gram, aligned = x.T @ x / len(x), (x.T @ y / len(x)).squeeze(1)
    weights = torch.zeros_like(aligned)
    for _ in range(SUBGRADIENT_STEPS):
        weights = weights - 0.01 * (gram @ weights - aligned + penalty * weights.sign())
    return weights


def measure_zeros(given: ZerosConfig, seed: int, effort: Effort) -> Verdict:
    """Count the weights of idle features that are exactly 0."""
    random = generator(seed, "zeros")
    truth = (torch.arange(given.features) < given.relevant).double()
    idle = truth == 0
    lasso_zeros = ridge_zeros = 0
    for _ in range(ZERO_SETS[effort]):
        x, y = regression(given.examples, truth, given.noise, random)
        lasso = fit_lasso(given.penalty, x, y)
        weights = (
            lasso.affine.weight[0]
            if given.solved_at_the_corner
            else subgradient_weights(given.penalty, x, y)
        )
        lasso_zeros += int((weights[idle] == 0).sum())
        ridge_zeros += int((solve_least_squares(x, y, l2=given.penalty)[0] == 0).sum())
    penalties = lasso.path_penalties[:, 0].tolist()  # of the last set
    path = (lasso.path_weights[:, 0] == 0).sum(dim=1).tolist()
    ridges = [int((solve_least_squares(x, y, l2=l2)[0] == 0).sum()) for l2 in penalties]
    sets, idle_count = ZERO_SETS[effort], int(idle.sum())
    return Verdict(
        findings=(
            at_least(
                "share of idle features whose weight is 0 with L1",
                MOST,
                lasso_zeros / (sets * idle_count),
                n=sets * idle_count,
            ),
            no_violations("weights that are 0 with L2", ridge_zeros, n=sets * given.features),
        ),
        chart=ClaimChart(
            x_label="penalty, λ",
            y_label=f"weights that are exactly 0, of {given.features}",
            series=(
                predicted("features that do not matter", penalties, [idle_count] * len(penalties)),
                measured("L1 (lasso by coordinate steps)", penalties, path),
                measured("L2 (ridge)", penalties, ridges),
            ),
            explanation="L1 sets the weights of idle features to 0, and in the end all of them; "
            "L2 makes all weights small and none 0.",
        ),
    )


L1_ZEROS = Claim(
    card=Card(
        sentence="An L1 penalty makes most weights of idle features exactly 0, an L2 penalty none.",
        formula=r"X^T X = nI: \quad w_j^{L1} = \mathrm{sign}(\hat w_j)(|\hat w_j| - \lambda)_+,"
        r" \quad w_j^{L2} = \frac{\hat w_j}{1 + \lambda}",
        symbols={
            r"\hat w_j": "least-squares weight of feature j",
            r"\lambda": "the penalty, beside half the mean squared error",
        },
        source="Tibshirani (1996), Journal of the Royal Statistical Society B 58, 267-288",
        misprint="Gradient steps with lambda sign(w) jump over 0 and give no zeros; a proximal"
        " or coordinate step does.",
    ),
    topic="Regularisation",
    kind="empirical",
    settings=ZerosConfig,
    experiment=measure_zeros,
)
