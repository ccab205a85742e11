"""What keeps a model from learning its examples by heart, by name: with cards and first settings.

The first strengths are where to begin a search: how much is good depends on the data, and is chosen
by validation.
"""

from torch import nn

from netwright.core.card import Card
from netwright.data.augment.pipeline import Pipeline
from netwright.losses.classification import cross_entropy
from netwright.losses.penalty import Penalty, add_l2_slope, soft_threshold
from netwright.models.ensembles.averaging import average_outputs
from netwright.optimizers.rules import adamw
from netwright.recipes.plan.regularizer import Regularizer
from netwright.train.callbacks.batches.input_noise import InputNoise
from netwright.train.callbacks.batches.label_noise import LabelNoise
from netwright.train.callbacks.clip_gradients import clip_by_norm, clip_by_value
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.gradient_noise import GradientNoise
from netwright.train.callbacks.proximal_l1 import ProximalL1
from netwright.train.callbacks.weight_noise import WeightNoise
from netwright.train.step import with_noise
from netwright.train.weight_average import WeightAverage

_WEIGHTS, _LOSS = {r"\theta": "the weights"}, {"R": "the loss"}
_STRENGTH = {r"\lambda": "the strength"}
_RATE = {r"\eta": "the learning rate"}
_NOISE = {r"\epsilon": r"normal numbers, N(0, \sigma^2)", r"\sigma": "the strength"}

REGULARIZERS: dict[str, Regularizer] = {
    "l2": Regularizer(
        card=Card(
            sentence="Half the sum of squared weights, added to the loss: keeps weights small.",
            formula=r"R_\lambda = R + \frac{\lambda}{2} \|\theta\|^2, \quad "
            r"\theta \leftarrow (1 - \eta \lambda) \theta - \eta \nabla R",
            symbols={**_WEIGHTS, **_LOSS, **_STRENGTH, **_RATE},
            source="Hoerl and Kennard (1970), Technometrics 12, 55-67",
            misprint=r"The step is often printed without the factor (1 - \eta \lambda).",
        ),
        acts="loss term",
        first={"train.l2": 1e-4},
        code=(add_l2_slope, Penalty.__call__),
    ),
    "weight-decay": Regularizer(
        card=Card(
            sentence="Every step shrinks the weights by a factor. With adamw beside the moments; "
            "with sgd and adam it is L2, and with adam the step then divides it by the gradient's "
            "size, so that weights with large gradients decay less.",
            formula=r"\theta \leftarrow (1 - \eta \lambda) \theta - \eta d",
            symbols={
                **_WEIGHTS,
                **_STRENGTH,
                **_RATE,
                "d": "the optimizer's direction, without penalty",
            },
            source="Loshchilov and Hutter (2019), arXiv 1711.05101",
            misprint="Weight decay and L2 are often said to be the same: they are for sgd alone.",
        ),
        acts="optimizer",
        first={"train.weight_decay": 1e-2, "train.optimizer": "adamw"},
        code=(adamw,),
    ),
    "l1": Regularizer(
        card=Card(
            sentence="The sum of absolute weights, by a proximal step: small weights are exactly "
            "0. After sgd it is proximal descent, and 0.001 is much; beside adam, whose steps are "
            "as long as the rate whatever the gradient is, it is decoupled and needs more.",
            formula=r"\theta \leftarrow \mathrm{sign}(\theta) \max(|\theta| - \eta \lambda, 0)",
            symbols={**_WEIGHTS, **_STRENGTH, **_RATE},
            source="Tibshirani (1996); Parikh and Boyd (2014), Proximal Algorithms, section 6.5.2",
            misprint=r"Steps by the subgradient \lambda sign(\theta) give no exact zeros.",
        ),
        acts="callback",
        first={"train.l1": 0.1},
        code=(ProximalL1.on_step_end, soft_threshold),
    ),
    "elastic-net": Regularizer(
        card=Card(
            sentence="L1 and L2 together: zeros, and correlated inputs share their weight.",
            formula=r"R + \lambda_1 \sum_j |\theta_j| + \frac{\lambda_2}{2} \|\theta\|^2",
            symbols={**_WEIGHTS, **_LOSS, r"\lambda_1, \lambda_2": "the strengths"},
            source="Zou and Hastie (2005), Journal of the Royal Statistical Society B 67, 301-320",
        ),
        acts="callback",
        first={"train.l1": 0.1, "train.l2": 1e-4},
        code=(soft_threshold, add_l2_slope),
    ),
    "dropout": Regularizer(
        card=Card(
            sentence="Units are dropped at random during training, so that none relies on another.",
            formula=r"\tilde h_j = \frac{m_j}{1 - p} h_j, \quad m_j \sim \mathrm{Bernoulli}(1 - p)",
            symbols={"h_j": "a hidden unit", "p": "the share that is dropped", "m_j": "0 or 1"},
            source="Srivastava et al. (2014), JMLR 15, 1929-1958",
            misprint="Some write p for the share that is kept; here and in torch it is dropped.",
        ),
        acts="layer option",
        first={"model.dropout": 0.5},
        code=(nn.Dropout.forward,),
    ),
    "early-stopping": Regularizer(
        card=Card(
            sentence="Stop when the validation metric stops improving, and restore the best "
            "weights.",
            formula=r"\hat\theta = \theta_{t^*}, \quad t^* = \arg\min_t L_{val}(\theta_t)",
            symbols={r"\theta_t": "the weights after epoch t", "L_{val}": "the validation loss"},
            source="Prechelt (1998), Early Stopping - But When?",
            misprint="Test data must not choose the epoch; and the weights where training stopped "
            "are not the best: those are `patience` epochs older.",
        ),
        acts="callback",
        first={"train.patience": 10},
        code=(EarlyStopping.on_epoch_end, EarlyStopping.on_fit_end),
    ),
    "label-smoothing": Regularizer(
        card=Card(
            sentence="Some probability mass moves from the true class to all classes.",
            formula=r"-\sum_c p_c \log q_c, \quad p = (1 - \epsilon) y + \frac{\epsilon}{C}",
            symbols={"q": "predicted", "y": "1 for the right class", r"\epsilon": "the share"},
            source="Szegedy et al. (2016), arXiv 1512.00567, section 7",
            misprint=r"Often printed without the minus sign; \epsilon / (C - 1) for the others "
            "alone is a second form, `smooth_over: others`.",
        ),
        acts="loss term",
        first={"train.label_smoothing": 0.1},
        code=(cross_entropy,),
    ),
    "input-noise": Regularizer(
        card=Card(
            sentence="Fresh noise is added to the inputs each time; for linear models this is "
            "ridge.",
            formula=r"E (y - w^T (x + \epsilon))^2 = (y - w^T x)^2 + \sigma^2 \|w\|^2",
            symbols={**_NOISE, "x": "the input, as encoded", "w": "the weights"},
            source="Bishop (1995), Neural Computation 7, 108-116",
            misprint="These equations are often printed under noise on weights.",
        ),
        acts="data transform",
        first={"train.input_noise": 0.1},
        code=(InputNoise.on_batch_start,),
    ),
    "label-noise": Regularizer(
        card=Card(
            sentence="A fraction of the labels is replaced by other classes, redrawn each time.",
            formula=r"P(\tilde y = c) = \frac{\epsilon}{C - 1} \ (c \ne y), \quad "
            r"\hat p_y \to 1 - \epsilon",
            symbols={r"\epsilon": "the share", "C": "classes", r"\hat p_y": "the best prediction"},
            source="Xie et al. (2016), arXiv 1605.00055",
        ),
        acts="data transform",
        first={"train.label_noise": 0.05},
        code=(LabelNoise.on_batch_start,),
    ),
    "weight-noise": Regularizer(
        card=Card(
            sentence="Each batch sees slightly perturbed weights: flat minima are preferred.",
            formula=r"E (y - (w + \epsilon)^T x)^2 = (y - w^T x)^2 + \sigma^2 \|x\|^2",
            symbols={**_NOISE, "w": "the weights; the update starts from them, without noise"},
            source="Graves (2011), Practical Variational Inference for Neural Networks",
        ),
        acts="callback",
        first={"train.weight_noise": 0.01},
        code=(WeightNoise.on_batch_start, WeightNoise._put_back),
    ),
    "gradient-noise": Regularizer(
        card=Card(
            sentence="Each update follows the gradient plus noise.",
            formula=r"w \leftarrow w - \eta (g + \epsilon), \quad \epsilon \sim N(0, \sigma^2)",
            symbols={**_NOISE, **_RATE, "g": "the gradient"},
            source="Welling and Teh (2011); Neelakantan et al. (2015), arXiv 1511.06807",
            misprint="Often printed under noise on weights: there the loss is taken elsewhere.",
        ),
        acts="callback",
        first={"train.gradient_noise": 0.01},
        code=(GradientNoise.on_before_update,),
    ),
    "output-noise": Regularizer(
        card=Card(
            sentence="Noise on the logits. With squared error it changes nothing on average; with "
            "cross-entropy it makes sure predictions costlier.",
            formula=r"E (y - f(x) - \epsilon)^2 = (y - f(x))^2 + \sigma^2",
            symbols={**_NOISE, "f(x)": "the output"},
            source="Poole, Sohl-Dickstein and Ganguli (2014), arXiv 1406.1831",
            misprint="Said to regularise squared error: the minimum stays where it is.",
        ),
        acts="loss term",
        first={"train.output_noise": 0.1},
        code=(with_noise,),
    ),
    "batch-norm": Regularizer(
        card=Card(
            sentence="Each unit has mean 0 and variance 1 over the batch, then a learned scale.",
            formula=r"\gamma \frac{x - \mu_B}{\sqrt{\sigma_B^2 + \epsilon}} + \beta",
            symbols={
                r"\mu_B, \sigma_B^2": "of one unit over the batch; running means at test time"
            },
            source="Ioffe and Szegedy (2015), arXiv 1502.03167",
        ),
        acts="layer option",
        first={"model.batch_norm": True},
        code=(nn.BatchNorm1d.forward,),
    ),
    "layer-norm": Regularizer(
        card=Card(
            sentence="Each row has mean 0 and variance 1 over its units; no other row matters.",
            formula=r"\gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
            symbols={r"\mu, \sigma^2": "of one row over the units of the layer"},
            source="Ba, Kiros and Hinton (2016), arXiv 1607.06450",
            misprint=r"\phi(BN(W x + b)) is often printed here: that is batch norm.",
        ),
        acts="layer option",
        first={"model.layer_norm": True},
        code=(nn.LayerNorm.forward,),
    ),
    "augmentation": Regularizer(
        card=Card(
            sentence="Images are changed at random in ways that keep their class.",
            formula=r"(x, y) \to (T(x), y), \quad T \text{ drawn anew each time}",
            symbols={"T": "a flip, a crop, a rotation ..."},
            source="Simard, Steinkraus and Platt (2003), ICDAR, 958-963",
        ),
        acts="data transform",
        first={"train.augment": ("crop=2",)},
        code=(Pipeline.__call__,),
    ),
    "clip-norm": Regularizer(
        card=Card(
            sentence="A gradient above a norm is scaled down to it; its direction is kept.",
            formula=r"g \leftarrow g \min(1, c / \|g\|)",
            symbols={"g": "all gradients together", "c": "the length"},
            source="Pascanu, Mikolov and Bengio (2013), arXiv 1211.5063, algorithm 1",
            misprint=r"c g / \|g\| without its condition makes short gradients longer; and "
            "clipping helps against gradients that explode, not against those that vanish.",
        ),
        acts="callback",
        first={"train.clip_norm": 1.0},
        code=(clip_by_norm,),
    ),
    "clip-value": Regularizer(
        card=Card(
            sentence="Each entry of the gradient is clipped to a range; the direction may change.",
            formula=r"g_i \leftarrow \max(-c, \min(c, g_i))",
            symbols={"g_i": "one number of the gradient", "c": "the size"},
            source="Mikolov (2012), Statistical Language Models Based on Neural Networks, thesis",
        ),
        acts="callback",
        first={"train.clip_value": 0.5},
        code=(clip_by_value,),
    ),
    "weight-averaging": Regularizer(
        card=Card(
            sentence="Evaluate and keep the mean of the weights over training, which itself is "
            "unaffected. A weight is 0 in the mean only if it was 0 throughout.",
            formula=r"m_t = m_{t-1} + r_t (w_t - m_{t-1}), \quad r_t = \frac{1 - d}{1 - d^t} "
            r"\text{ or } \frac{1}{t}",
            symbols={"w_t": "the weights after update t", "d": "what an exponential mean keeps"},
            source="Polyak and Juditsky (1992); Izmailov et al. (2018), arXiv 1803.05407",
            misprint="With a constant r = 1 - d the first weights count far too much for long.",
        ),
        acts="callback",
        first={"train.average": "exponential"},
        code=(WeightAverage.add,),
    ),
    "ensembles": Regularizer(
        card=Card(
            sentence="The mean of several models, each on rows drawn with replacement (bagging) "
            "or from its own start (restarts): the less they agree, the more it helps.",
            formula=r"\mathrm{Var} = \rho v + \frac{1 - \rho}{M} v",
            symbols={"v": "the variance of one", r"\rho": "their correlation", "M": "members"},
            source="Breiman (1996), Machine Learning 24, 123-140",
        ),
        acts="ensemble",
        first={"model.of": "mlp", "model.members": 10},
        code=(average_outputs,),
        model="bagging",
    ),
}
