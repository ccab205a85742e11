r"""Penalties on the weights: what L2 and L1 stand for, and what early stopping has in common.

    L2              -log N(w; 0, tau^2) = |w|^2 / (2 tau^2) + const: a Gaussian prior
    L1              a corner at 0, where weights stay
    early stopping  1 - (1 - eta lambda_i)^t, close to ridge's lambda_i / (lambda_i + 1 / (eta t))

Shapes: N examples, D features, R regressions side by side.
Source: Hoerl and Kennard (1970) for ridge; Tibshirani (1996) for the lasso; Bishop, "Pattern
Recognition and Machine Learning" (2006), sections 3.3 and 5.5.2.
"""

# ruff: noqa: RUF001 - the Greek letters are meant

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.func import grad, jacrev, vmap

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive, Size
from netwright.core.seeding import generator
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.inspection.claim_chart import ClaimChart, measured, predicted
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

ZERO_SETS = {"quick": 2, "full": 20}
SUBGRADIENT_STEPS = 2000


@dataclass(frozen=True, kw_only=True)
class ZerosConfig(Config):
    """A regression in which few features matter."""

    examples: Annotated[Size, Doc("n, examples")] = 200
    features: Annotated[Size, Doc("D, features")] = 100
    relevant: Annotated[Size, Doc("features that the targets depend on, with weight 1")] = 10
    noise: Annotated[Positive, Doc("standard deviation of the targets' noise")] = 1.0
    penalty: Annotated[Positive, Doc("lambda, of the L1 and of the L2 penalty")] = 0.15
    solved_at_the_corner: Annotated[
        bool, Assumption("the solver may stop at 0: a proximal or coordinate step, not a gradient")
    ] = True


def fit_lasso(given: ZerosConfig, x: Tensor, y: Tensor) -> Lasso:
    """The library's lasso, with its path of penalties."""
    spec = DataSpec(inputs="features", input_shape=(given.features,), target="real", num_outputs=1)
    model = Lasso.build(LassoConfig(l1=given.penalty), spec).double()
    for _ in model.fit_steps(Split(inputs=x, targets=y), seed=0):
        pass
    return model


def subgradient_weights(given: ZerosConfig, x: Tensor, y: Tensor) -> Tensor:
    """The same loss by gradient steps with sign(w), which jump over 0 for ever."""
    gram, aligned = x.T @ x / len(x), (x.T @ y / len(x)).squeeze(1)
    weights = torch.zeros_like(aligned)
    for _ in range(SUBGRADIENT_STEPS):
        weights = weights - 0.01 * (gram @ weights - aligned + given.penalty * weights.sign())
    return weights


def measure_zeros(given: ZerosConfig, seed: int, effort: Effort) -> Verdict:
    """Count the weights that are exactly 0."""
    random = generator(seed, "zeros")
    truth = (torch.arange(given.features) < given.relevant).double()
    lasso_zeros, ridge_zeros = [], []
    for _ in range(ZERO_SETS[effort]):
        x, y = regression(given.examples, truth, given.noise, random)
        lasso = fit_lasso(given, x, y)
        weights = (
            lasso.affine.weight if given.solved_at_the_corner else subgradient_weights(given, x, y)
        )
        lasso_zeros.append(int((weights == 0).sum()))
        ridge_zeros.append(int((solve_least_squares(x, y, l2=given.penalty)[0] == 0).sum()))
    penalties = lasso.path_penalties[:, 0].tolist()  # of the last set
    path = (lasso.path_weights[:, 0] == 0).sum(dim=1).tolist()
    ridges = [int((solve_least_squares(x, y, l2=l2)[0] == 0).sum()) for l2 in penalties]
    idle = given.features - given.relevant
    return Verdict(
        findings=(
            at_least(
                f"weights that are 0 with L1, of {given.features}, the fewest",
                0.8 * given.features,
                min(lasso_zeros),
                n=len(lasso_zeros),
            ),
            at_most(
                "weights that are 0 with L2, the most", 0, max(ridge_zeros), n=len(ridge_zeros)
            ),
        ),
        chart=ClaimChart(
            x_label="penalty, λ",
            y_label=f"weights that are exactly 0, of {given.features}",
            series=(
                predicted("features that do not matter", penalties, [idle] * len(penalties)),
                measured("L1 (lasso)", penalties, path),
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
    kind="theorem",
    settings=ZerosConfig,
    experiment=measure_zeros,
)

STOPPING_SETS = {"quick": 5, "full": 50}
SMALL = 0.2  # eta lambda t of the directions that are compared


@dataclass(frozen=True, kw_only=True)
class EarlyStoppingConfig(Config):
    """The regression, and when its descent is stopped."""

    features: Annotated[Size, Doc("D, directions, with curvatures from 1 down to 1e-4")] = 40
    examples: Annotated[Size, Doc("N, examples, more than D")] = 100
    lr: Annotated[Positive, Doc("eta, the step size")] = 0.1
    steps: Annotated[Size, Doc("t, steps of gradient descent")] = 300
    early: Annotated[
        bool, Assumption(f"stopped early: eta lambda t is at most {SMALL} in a direction compared")
    ] = True
    from_zero: Annotated[bool, Assumption("the descent starts at 0, where ridge pulls to")] = True


def shrinkages(
    given: EarlyStoppingConfig, random: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Curvatures (D,), and what is left of the least-squares weights by descent and by ridge."""
    x = torch.randn(given.examples, given.features, generator=random, dtype=torch.float64)
    left, _, right = torch.linalg.svd(x - x.mean(dim=0), full_matrices=False)
    curvatures = torch.logspace(0, -4, given.features, dtype=torch.float64)
    x = (left * (given.examples * curvatures).sqrt()) @ right  # X^T X / n has these curvatures
    y = torch.randn(given.examples, 1, generator=random, dtype=torch.float64)
    least = right @ solve_least_squares(x, y)[0].T  # (D, 1), in the directions of the curvatures
    weights = torch.zeros_like(least)
    if not given.from_zero:
        weights = torch.randn(weights.shape, generator=random, dtype=torch.float64)
    for _ in range(given.steps):
        weights = weights - given.lr * x.T @ (x @ weights - y) / given.examples
    ridge = solve_least_squares(x, y, l2=1 / (given.lr * given.steps))[0].T
    return (
        curvatures,
        (right @ weights / least).squeeze(1),
        (right @ ridge / least).squeeze(1),
    )


def measure_early_stopping(given: EarlyStoppingConfig, seed: int, effort: Effort) -> Verdict:
    """Descend for a while, and compare with ridge direction by direction."""
    random = generator(seed, "early stopping")
    sets = [shrinkages(given, random) for _ in range(STOPPING_SETS[effort])]
    curvatures, stopped, ridge = (torch.stack(part) for part in zip(*sets, strict=True))
    products = given.lr * given.steps * curvatures
    formula = 1 - (1 - given.lr * curvatures) ** given.steps
    wrong = int(((stopped - formula).abs() > 1e-8).sum())
    compared = products <= SMALL if given.early else torch.ones_like(products, dtype=torch.bool)
    return Verdict(
        findings=(
            at_most(
                "share by which descent and ridge differ in a direction, the largest",
                0.1,
                float((stopped / ridge - 1).abs()[compared].max()),
                n=int(compared.sum()),
            ),
            no_violations(
                "directions in which descent has not 1 - (1 - eta lambda)^t of its way behind it",
                wrong,
                n=stopped.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="step size times curvature times steps, ηλt",
            y_label="share of the least-squares weight",
            series=(
                predicted("ridge with α = 1/(ηt)", products[0], products[0] / (1 + products[0])),
                measured(f"gradient descent after {given.steps} steps", products[0], stopped[0]),
            ),
            explanation="One dot for each direction of one data set. Both leave flat directions "
            "near 0 and fit steep ones; they agree where ηλt is small.",
            log="x",
        ),
    )


EARLY_STOPPING = Claim(
    card=Card(
        sentence="Stopping gradient descent early shrinks the weights much as an L2 penalty of"
        " 1/(ηt) would, where ηλt is small.",
        formula=r"1 - (1 - \eta\lambda_i)^t \approx \frac{\lambda_i}{\lambda_i + \alpha},"
        r" \quad \alpha = \frac{1}{\eta t}",
        symbols={
            r"\lambda_i": "curvature of direction i, an eigenvalue of X^T X / n",
            r"\eta": "step size",
            "t": "steps",
            r"\alpha": "the L2 penalty, beside half the mean squared error",
        },
        source="Bishop (2006), Pattern Recognition and Machine Learning, section 5.5.2",
    ),
    topic="Regularisation",
    kind="empirical",
    settings=EarlyStoppingConfig,
    experiment=measure_early_stopping,
)
