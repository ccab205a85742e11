"""What operations are called in textbooks, with their formulas and their derivatives.

Torch's names are those of its functions (`__rsub__`, `add_`, `matmul`); a reader knows -, + and @.
"""

from collections.abc import Mapping

_SIGNS = {
    "add": "+",
    "radd": "+",
    "iadd": "+",
    "sub": "-",
    "rsub": "c - x",
    "isub": "-",
    "mul": "*",
    "rmul": "*",
    "imul": "*",
    "div": "/",
    "truediv": "/",
    "rtruediv": "c / x",
    "reciprocal": "1 / x",
    "neg": "negative",
    "matmul": "@",
    "mm": "@",
    "bmm": "@",
    "addmm": "linear",
    "pow": "power",
    "getitem": "pick",
    "setitem": "put",
    "binary_cross_entropy_with_logits": "sigmoid_cross_entropy",
}

# Operations that move numbers and change none: they have no derivative worth a step.
_QUIET = frozenset(
    "view view_as reshape flatten unflatten ravel transpose swapaxes permute movedim t T mT "
    "squeeze unsqueeze expand expand_as broadcast_to contiguous clone to double float half "
    "bfloat16 type type_as alias pick select narrow chunk split tensor_split unbind dropout "
    "view_as_real view_as_complex".split()
)

# name -> what it computes, and the derivative that the backward pass multiplies by.
_FORMULAS = {
    "linear": ("y = W x + b", "dy/dx = W, dy/dW = x, dy/db = 1"),
    "+": ("y = a + b", "dy/da = dy/db = 1: both get all of it"),
    "-": ("y = a - b", "dy/da = 1, dy/db = -1"),
    "c - x": ("y = c - x", "dy/dx = -1"),
    "*": ("y = a b", "dy/da = b, dy/db = a"),
    "/": ("y = a / b", "dy/da = 1 / b, dy/db = -a / b²"),
    "c / x": ("y = c / x", "dy/dx = -c / x²"),
    "1 / x": ("y = 1 / x", "dy/dx = -y²"),
    "@": ("Y = A B", "the gradient G of Y gives G Bᵀ to A and Aᵀ G to B"),
    "negative": ("y = -x", "dy/dx = -1"),
    "power": ("y = xᵏ", "dy/dx = k xᵏ⁻¹"),
    "exp": ("y = eˣ", "dy/dx = y"),
    "log": ("y = log x", "dy/dx = 1 / x"),
    "sqrt": ("y = √x", "dy/dx = 1 / (2 y)"),
    "sum": ("y = Σ x", "dy/dx = 1 for each"),
    "mean": ("y = Σ x / n", "dy/dx = 1 / n for each"),
    "tanh": ("y = tanh x", "dy/dx = 1 - y²"),
    "sigmoid": ("y = 1 / (1 + e⁻ˣ)", "dy/dx = y (1 - y)"),
    "relu": ("y = max(0, x)", "dy/dx = 1 where x > 0, else 0"),
    "gelu": ("y = x Φ(x)", "dy/dx = Φ(x) + x φ(x)"),
    "silu": ("y = x sigmoid(x)", "dy/dx = sigmoid(x) (1 + x - y)"),
    "softplus": ("y = log(1 + eˣ)", "dy/dx = sigmoid(x)"),
    "leaky_relu": ("y = x where x > 0, else a x", "dy/dx = 1 where x > 0, else a"),
    "elu": ("y = x where x > 0, else a (eˣ - 1)", "dy/dx = 1 where x > 0, else y + a"),
    "softmax": ("yᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)", "dyᵢ/dxⱼ = yᵢ ([i = j] - yⱼ)"),
    "log_softmax": ("yᵢ = xᵢ - log Σⱼ exp(xⱼ)", "dyᵢ/dxⱼ = [i = j] - softmax(x)ⱼ"),
    "cross_entropy": (
        "L = -log softmax(x) of the target, a mean over the rows",
        "dL/dx = (softmax(x) - one-hot target) / rows",
    ),
    "sigmoid_cross_entropy": (
        "L = -t log p - (1 - t) log(1 - p), a mean, where p = sigmoid(x)",
        "dL/dx = (p - t) / n",
    ),
    "mse_loss": ("L = Σ (y - t)² / n", "dL/dy = 2 (y - t) / n"),
    "embedding": ("y = the rows of W that the tokens name", "dy/dW = 1 at these rows, else 0"),
    "conv1d": ("y = W * x + b, at every place", "dy/dx = W turned round, dy/dW = x"),
    "conv2d": ("y = W * x + b, at every place", "dy/dx = W turned round, dy/dW = x"),
    "max_pool1d": ("y = the largest of each window", "dy/dx = 1 at the largest, else 0"),
    "max_pool2d": ("y = the largest of each window", "dy/dx = 1 at the largest, else 0"),
    "avg_pool2d": ("y = the mean of each window", "dy/dx = 1 / size of the window"),
    "batch_norm": ("y = w (x - mean) / spread + b", "dy/dx = w / spread: mean and spread rest"),
    "layer_norm": ("y = w (x - mean) / spread + b", "mean and spread depend on x too"),
    "masked_fill": ("y = x, or a constant where masked", "dy/dx = 1, 0 where masked"),
    "where": ("y = a where the condition holds, else b", "1 to the one that was taken, else 0"),
    "stack": ("y = a, b, ... one behind the other", "each gets its own part"),
    "cat": ("y = a, b, ... one behind the other", "each gets its own part"),
}
# name -> the settings that its formula is for; others, such as a stride, do not touch it.
_USUAL: Mapping[str, Mapping[str, object]] = {
    "+": {"alpha": 1},
    "-": {"alpha": 1},
    "/": {"rounding_mode": None},
    "gelu": {"approximate": "none"},
    "cross_entropy": {"reduction": "mean", "weight": None, "label_smoothing": 0.0},
    "sigmoid_cross_entropy": {"reduction": "mean", "weight": None, "pos_weight": None},
    "mse_loss": {"reduction": "mean", "weight": None},
    "batch_norm": {"training": False},
}
_ELEMENTWISE = frozenset(
    "+|-|*|/|where|c - x|c / x|1 / x|negative|power|exp|log|sqrt|tanh|sigmoid|relu|gelu|silu|"
    "softplus|leaky_relu|elu|masked_fill".split("|")
)


def textbook_name(name: str) -> str:
    """`__rsub__`, `add_` and `matmul` as "c - x", "+" and "@"; others without their underscores."""
    plain = name.strip("_")
    return _SIGNS.get(plain, plain)


def is_quiet(name: str) -> bool:
    """Whether the operation only moves numbers; `name` may end with a part, as in "chunk[2]"."""
    return name.partition("[")[0] in _QUIET


def is_elementwise(name: str) -> bool:
    """Whether each number of the result depends on one number only: it has slopes, not a matrix."""
    return name in _ELEMENTWISE


def is_usual(name: str, settings: Mapping[str, object]) -> bool:
    """Whether the formula of this name holds with such settings."""
    return all(
        settings[key] is usual or settings[key] == usual
        for key, usual in _USUAL.get(name, {}).items()
        if key in settings
    )


def formulas(name: str) -> tuple[str, str]:
    """What it computes, and its derivative; empty for operations without a textbook form."""
    return _FORMULAS.get(name, ("", ""))
