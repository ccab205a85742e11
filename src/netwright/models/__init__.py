"""Models: each an ordinary `nn.Module` with its config in the same file."""

from netwright.models.catalog import MODELS as MODELS
from netwright.models.linear.classification import LogisticRegression as LogisticRegression
from netwright.models.linear.classification import (
    LogisticRegressionConfig as LogisticRegressionConfig,
)
from netwright.models.linear.classification import SoftmaxRegression as SoftmaxRegression
from netwright.models.linear.classification import (
    SoftmaxRegressionConfig as SoftmaxRegressionConfig,
)
from netwright.models.linear.regression import LeastSquares as LeastSquares
from netwright.models.linear.regression import LeastSquaresConfig as LeastSquaresConfig
from netwright.models.linear.regression import LinearRegression as LinearRegression
from netwright.models.linear.regression import LinearRegressionConfig as LinearRegressionConfig
from netwright.models.linear.regression import Ridge as Ridge
from netwright.models.linear.regression import RidgeConfig as RidgeConfig
from netwright.models.mlp import MLP as MLP
from netwright.models.mlp import MLPConfig as MLPConfig
from netwright.models.model import Model as Model
