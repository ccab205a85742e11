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
from netwright.models.ensembles.bagging import Bagging as Bagging
from netwright.models.ensembles.bagging import BaggingConfig as BaggingConfig
from netwright.models.ensembles.boosting import Boosting as Boosting
from netwright.models.ensembles.boosting import BoostingConfig as BoostingConfig
from netwright.models.ensembles.restarts import Restarts as Restarts
from netwright.models.ensembles.restarts import RestartsConfig as RestartsConfig
from netwright.models.ensembles.stacking import Stacking as Stacking
from netwright.models.ensembles.stacking import StackingConfig as StackingConfig
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
from netwright.models.vision.alexnet import AlexNet as AlexNet
from netwright.models.vision.alexnet import AlexNetConfig as AlexNetConfig
from netwright.models.vision.cifar_resnet import ResNet20 as ResNet20
from netwright.models.vision.cifar_resnet import ResNet20Config as ResNet20Config
from netwright.models.vision.cifar_resnet import ResNet32 as ResNet32
from netwright.models.vision.cifar_resnet import ResNet32Config as ResNet32Config
from netwright.models.vision.cifar_resnet import ResNet44 as ResNet44
from netwright.models.vision.cifar_resnet import ResNet44Config as ResNet44Config
from netwright.models.vision.cifar_resnet import ResNet56 as ResNet56
from netwright.models.vision.cifar_resnet import ResNet56Config as ResNet56Config
from netwright.models.vision.cifar_resnet import ResNet110 as ResNet110
from netwright.models.vision.cifar_resnet import ResNet110Config as ResNet110Config
from netwright.models.vision.cnn import CNN as CNN
from netwright.models.vision.cnn import CNNConfig as CNNConfig
from netwright.models.vision.lenet import LeNet5 as LeNet5
from netwright.models.vision.lenet import LeNet5Config as LeNet5Config
from netwright.models.vision.resnet import ResNet18 as ResNet18
from netwright.models.vision.resnet import ResNet18Config as ResNet18Config
from netwright.models.vision.resnet import ResNet34 as ResNet34
from netwright.models.vision.resnet import ResNet34Config as ResNet34Config
from netwright.models.vision.resnet import ResNet50 as ResNet50
from netwright.models.vision.resnet import ResNet50Config as ResNet50Config
from netwright.models.vision.resnet import ResNet101 as ResNet101
from netwright.models.vision.resnet import ResNet101Config as ResNet101Config
from netwright.models.vision.resnet import ResNet152 as ResNet152
from netwright.models.vision.resnet import ResNet152Config as ResNet152Config
from netwright.models.vision.resnet9 import ResNet9 as ResNet9
from netwright.models.vision.resnet9 import ResNet9Config as ResNet9Config
from netwright.models.vision.unet import UNet as UNet
from netwright.models.vision.unet import UNetConfig as UNetConfig
from netwright.models.vision.vgg import VGG11 as VGG11
from netwright.models.vision.vgg import VGG13 as VGG13
from netwright.models.vision.vgg import VGG16 as VGG16
from netwright.models.vision.vgg import VGG19 as VGG19
from netwright.models.vision.vgg import VGG11Config as VGG11Config
from netwright.models.vision.vgg import VGG13Config as VGG13Config
from netwright.models.vision.vgg import VGG16Config as VGG16Config
from netwright.models.vision.vgg import VGG19Config as VGG19Config
