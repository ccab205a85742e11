"""The models that can be named."""

from netwright.core.catalog import Catalog
from netwright.models.model import Model

MODELS: Catalog[type[Model]] = Catalog(
    "model",
    {
        "mlp": "netwright.models.mlp:MLP",
        "linear-regression": "netwright.models.linear.regression:LinearRegression",
        "least-squares": "netwright.models.linear.regression:LeastSquares",
        "ridge": "netwright.models.linear.regression:Ridge",
        "logistic": "netwright.models.linear.classification:LogisticRegression",
        "softmax": "netwright.models.linear.classification:SoftmaxRegression",
    },
)
