"""The optimizers that torch has, each with its card."""

from netwright.core.card import Card
from netwright.optimizers import eager
from netwright.optimizers.optimizer import OptimizerEntry

_STEP = {
    "w": "the weights",
    r"\eta": "the learning rate, `lr`",
    "g": "the gradient of the loss at w",
}
_SMALL = {r"\epsilon": "a small number against division by zero, `eps`"}
_MOMENTS = {
    **_STEP,
    "m, v": "running means of g and g^2, from 0",
    r"\beta_1, \beta_2": "how long they remember, `betas`",
    r"\hat m, \hat v": "the same, corrected for starting at 0",
    **_SMALL,
}
_MEANS = (
    r"m \leftarrow \beta_1 m + (1-\beta_1) g, \quad v \leftarrow \beta_2 v + (1-\beta_2) g^2,"
    r" \quad \hat m = \frac{m}{1-\beta_1^t}, \quad \hat v = \frac{v}{1-\beta_2^t}, \quad "
)

GRADIENT_DESCENT = OptimizerEntry(
    make=eager.SGD,
    lr=0.1,
    fused=True,
    full_batch=True,
    card=Card(
        sentence="Step against the gradient over all rows.",
        formula=r"w \leftarrow w - \eta \nabla L(w)",
        symbols={
            "w": "the weights",
            r"\eta": "the learning rate, `lr`; stable below 2 over the largest curvature",
            "L": "the mean loss over all rows",
        },
        source="Cauchy (1847), Comptes Rendus 25, 536-538",
    ),
)
SGD = OptimizerEntry(
    make=eager.SGD,
    lr=0.1,
    fused=True,
    card=Card(
        sentence="Step against the gradient of a batch.",
        formula=r"w \leftarrow w - \frac{\eta}{|B|} \sum_{i \in B} \nabla L_i(w)",
        symbols={
            "w": "the weights",
            r"\eta": "the learning rate, `lr`",
            "B": "the rows of a batch, drawn anew for each step",
            "L_i": "the loss of row i",
        },
        source="Robbins and Monro (1951), Annals of Mathematical Statistics 22, 400-407",
        misprint="Often printed as the mean gradient of the first |B| rows and without the step: "
        "the sum is over the rows that were drawn, and the weights have to move.",
    ),
)
MOMENTUM = OptimizerEntry(
    make=eager.SGD,
    lr=0.05,
    presets={"momentum": 0.9},
    fused=True,
    card=Card(
        sentence="Step along a running sum of gradients, so that steady directions gain speed.",
        formula=r"v \leftarrow \mu v + g, \quad w \leftarrow w - \eta v",
        symbols={**_STEP, "v": "the running sum of gradients", r"\mu": "momentum, 0.9"},
        source="Polyak (1964), USSR Computational Mathematics 4(5), 1-17",
        misprint="Often printed as w - eta g alone, which is plain gradient descent: in a valley "
        "with curvatures 1 and 100 its loss after 200 steps is 9e-3, with the velocity 1.5e-8.",
    ),
)
NESTEROV = OptimizerEntry(
    make=eager.SGD,
    lr=0.05,
    presets={"momentum": 0.9, "nesterov": True},
    fused=True,
    card=Card(
        sentence="Momentum that looks ahead: the gradient counts where the step will lead.",
        formula=r"v \leftarrow \mu v + g, \quad w \leftarrow w - \eta (g + \mu v)",
        symbols={**_STEP, "v": "the running sum of gradients", r"\mu": "momentum, 0.9"},
        source="Nesterov (1983); rewritten for the weights at hand after Sutskever et al. (2013)",
        misprint="With a velocity that is subtracted, v <- mu v + eta g, the look-ahead is "
        "w - mu v; often printed as w + mu v, with which the steps run away (a loss above 1e50 "
        "after 200 steps in a valley with curvatures 1 and 100), or without carrying v on, which "
        "is gradient descent.",
    ),
)
ADAGRAD = OptimizerEntry(
    make=eager.Adagrad,  # its fused kernel is for the CPU only in torch 2.11
    lr=0.01,
    card=Card(
        sentence="Each coordinate's step shrinks with the gradients it has seen.",
        formula=r"s \leftarrow s + g^2, \quad w \leftarrow w - \eta \frac{g}{\sqrt{s} + \epsilon}",
        symbols={**_STEP, "s": "the sum of squared gradients", **_SMALL},
        source="Duchi, Hazan and Singer (2011), JMLR 12, 2121-2159",
        misprint="The sum s is often called the learning rate; the rate is eta over its root, and "
        "shrinks as the sum grows.",
    ),
)
ADADELTA = OptimizerEntry(
    make=eager.Adadelta,
    lr=1.0,
    card=Card(
        sentence="Steps in the units of the weights: the ratio of two running root mean squares.",
        formula=r"\Delta = -\frac{\mathrm{RMS}[\Delta]}{\mathrm{RMS}[g]} g,"
        r" \quad w \leftarrow w + \eta\Delta",
        symbols={
            **_STEP,
            r"\Delta": "the step before it is scaled",
            r"\mathrm{RMS}": "the root of a running mean square plus `eps`; that of the steps is "
            "one step behind",
        },
        source="Zeiler (2012), arXiv 1212.5701",
        misprint="Often printed without the update of the mean of squared steps, which then stays "
        "0: every step has the size of sqrt(eps), and none gains speed.",
    ),
)
RMSPROP = OptimizerEntry(
    make=eager.RMSprop,
    lr=1e-3,
    card=Card(
        sentence="Divide the gradient by a running root mean square of itself.",
        formula=r"s \leftarrow \rho s + (1-\rho) g^2,"
        r" \quad w \leftarrow w - \eta \frac{g}{\sqrt{s}+\epsilon}",
        symbols={
            **_STEP,
            "s": "a running mean of squared gradients",
            r"\rho": "how long it remembers, `alpha`",
            **_SMALL,
        },
        source="Tieleman and Hinton (2012), lecture 6.5",
        misprint="It divides by the root of the running mean, not by the mean: without the root "
        "the step would grow as the gradient falls.",
    ),
)
ADAM = OptimizerEntry(
    make=eager.Adam,
    lr=1e-3,
    fused=True,
    card=Card(
        sentence="Momentum and a root mean square together, both corrected for starting at zero.",
        formula=_MEANS + r"w \leftarrow w - \eta \frac{\hat m}{\sqrt{\hat v} + \epsilon}",
        symbols=_MOMENTS,
        source="Kingma and Ba (2015), arXiv 1412.6980",
        misprint="Often printed without the corrections, with which the first step is 3.16 times "
        "too long, or with g in the place of m-hat, which is RMSProp. The name stands for adaptive "
        "moment estimation, not for adaptive momentum.",
    ),
)
ADAMW = OptimizerEntry(
    make=eager.AdamW,
    lr=1e-3,
    fused=True,
    card=Card(
        sentence="Adam with weight decay apart from the gradient.",
        formula=_MEANS
        + r"w \leftarrow (1 - \eta\lambda) w - \eta \frac{\hat m}{\sqrt{\hat v} + \epsilon}",
        symbols={**_MOMENTS, r"\lambda": "`weight_decay`"},
        source="Loshchilov and Hutter (2019), arXiv 1711.05101",
        misprint="Weight decay and an L2 penalty are often called the same; they are for plain "
        "gradient descent, while Adam divides the gradient of a penalty by its root mean square.",
    ),
)
NADAM = OptimizerEntry(
    make=eager.NAdam,
    lr=2e-3,
    card=Card(
        sentence="Adam with Nesterov's look-ahead.",
        formula=r"w \leftarrow w - \frac{\eta}{\sqrt{\hat v} + \epsilon}"
        r" \left( \frac{\mu_{t+1}\, m}{1 - \prod_{i \leq t+1} \mu_i}"
        r" + \frac{(1-\mu_t)\, g}{1 - \prod_{i \leq t} \mu_i} \right)",
        symbols={
            **_STEP,
            "m": "a running mean of g, from 0, as Adam's",
            r"\hat v": "a running mean of g^2, corrected for starting at 0",
            r"\mu_t": "the weight of m at step t, which rises toward `betas[0]`",
            **_SMALL,
        },
        source="Dozat (2016), ICLR workshop",
        misprint="m is that of the next step and is corrected as such; often printed with the "
        "product up to t alone: the first step is then 1.08 times eta in place of 1.06, and with "
        "a constant mu of 0.9 it is 1.9 in place of 1.47. It is not the look-ahead but the "
        "correction that mends the bias of the first steps.",
    ),
)
LBFGS = OptimizerEntry(
    make=eager.LBFGS,
    lr=1.0,
    presets={"line_search_fn": "strong_wolfe"},
    closure=True,
    card=Card(
        sentence="A quasi-Newton step from the last few gradients, with a line search; dropout "
        "and other noise confuse its memory.",
        formula=r"w \leftarrow w - \eta H g",
        symbols={
            **_STEP,
            r"\eta": "the step length: `lr` at first, then what the line search finds",
            "H": "the inverse Hessian, built from differences of gradients",
        },
        source="Liu and Nocedal (1989), Mathematical Programming 45, 503-528",
    ),
)
