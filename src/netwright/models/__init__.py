"""Models: each an ordinary `nn.Module` with its config in the same file."""

from netwright.models.baselines.lda import LDA as LDA
from netwright.models.baselines.lda import LDAConfig as LDAConfig
from netwright.models.baselines.svm import SVM as SVM
from netwright.models.baselines.svm import SVMConfig as SVMConfig
from netwright.models.baselines.trees import DecisionTree as DecisionTree
from netwright.models.baselines.trees import DecisionTreeConfig as DecisionTreeConfig
from netwright.models.baselines.trees import GradientBoosting as GradientBoosting
from netwright.models.baselines.trees import GradientBoostingConfig as GradientBoostingConfig
from netwright.models.baselines.trees import RandomForest as RandomForest
from netwright.models.baselines.trees import RandomForestConfig as RandomForestConfig
from netwright.models.catalog import MODELS as MODELS
from netwright.models.kernel_regression import KernelRegression as KernelRegression
from netwright.models.kernel_regression import KernelRegressionConfig as KernelRegressionConfig
from netwright.models.linear.classification import LogisticRegression as LogisticRegression
from netwright.models.linear.classification import (
    LogisticRegressionConfig as LogisticRegressionConfig,
)
from netwright.models.linear.classification import SoftmaxRegression as SoftmaxRegression
from netwright.models.linear.classification import (
    SoftmaxRegressionConfig as SoftmaxRegressionConfig,
)
from netwright.models.linear.gaussian import GaussianRegression as GaussianRegression
from netwright.models.linear.gaussian import GaussianRegressionConfig as GaussianRegressionConfig
from netwright.models.linear.lasso import Lasso as Lasso
from netwright.models.linear.lasso import LassoConfig as LassoConfig
from netwright.models.linear.newton import LogisticNewton as LogisticNewton
from netwright.models.linear.newton import LogisticNewtonConfig as LogisticNewtonConfig
from netwright.models.linear.newton import SoftmaxNewton as SoftmaxNewton
from netwright.models.linear.newton import SoftmaxNewtonConfig as SoftmaxNewtonConfig
from netwright.models.linear.polynomial import PolynomialRegression as PolynomialRegression
from netwright.models.linear.polynomial import (
    PolynomialRegressionConfig as PolynomialRegressionConfig,
)
from netwright.models.linear.regression import LeastSquares as LeastSquares
from netwright.models.linear.regression import LeastSquaresConfig as LeastSquaresConfig
from netwright.models.linear.regression import LinearRegression as LinearRegression
from netwright.models.linear.regression import LinearRegressionConfig as LinearRegressionConfig
from netwright.models.linear.regression import Ridge as Ridge
from netwright.models.linear.regression import RidgeConfig as RidgeConfig
from netwright.models.memory.dense_memory import DenseMemory as DenseMemory
from netwright.models.memory.dense_memory import DenseMemoryConfig as DenseMemoryConfig
from netwright.models.memory.hopfield import Hopfield as Hopfield
from netwright.models.memory.hopfield import HopfieldConfig as HopfieldConfig
from netwright.models.memory.modern_hopfield import ModernHopfield as ModernHopfield
from netwright.models.memory.modern_hopfield import ModernHopfieldConfig as ModernHopfieldConfig
from netwright.models.memory.rbm import RBM as RBM
from netwright.models.memory.rbm import RBMConfig as RBMConfig
from netwright.models.mlp import MLP as MLP
from netwright.models.mlp import MLPConfig as MLPConfig
from netwright.models.model import Model as Model
from netwright.models.neurons.delta_rule import DeltaRule as DeltaRule
from netwright.models.neurons.delta_rule import DeltaRuleConfig as DeltaRuleConfig
from netwright.models.neurons.mcculloch_pitts import McCullochPitts as McCullochPitts
from netwright.models.neurons.mcculloch_pitts import McCullochPittsConfig as McCullochPittsConfig
from netwright.models.neurons.multiclass import OneVsOne as OneVsOne
from netwright.models.neurons.multiclass import OneVsOneConfig as OneVsOneConfig
from netwright.models.neurons.multiclass import OneVsRest as OneVsRest
from netwright.models.neurons.multiclass import OneVsRestConfig as OneVsRestConfig
from netwright.models.neurons.perceptron import AveragedPerceptron as AveragedPerceptron
from netwright.models.neurons.perceptron import AveragedPerceptronConfig as AveragedPerceptronConfig
from netwright.models.neurons.perceptron import Perceptron as Perceptron
from netwright.models.neurons.perceptron import PerceptronConfig as PerceptronConfig
from netwright.models.neurons.rosenblatt import Rosenblatt as Rosenblatt
from netwright.models.neurons.rosenblatt import RosenblattConfig as RosenblattConfig
