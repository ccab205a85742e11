"""Models: each an ordinary `nn.Module` with its config in the same file.

A model is loaded when it is first used. The names are those of the catalog's classes; sizes that
are rows of a table (`ResNet50`, `GPT2XLConfig`) are found like the others.
"""

from typing import TYPE_CHECKING

from netwright.core.lazy_names import lazy_names
from netwright.models.catalog import MODELS

if TYPE_CHECKING:
    from netwright.models.baselines.gradient_boosting import GradientBoosting as GradientBoosting
    from netwright.models.baselines.gradient_boosting import (
        GradientBoostingConfig as GradientBoostingConfig,
    )
    from netwright.models.baselines.hist_boosting import HistBoosting as HistBoosting
    from netwright.models.baselines.hist_boosting import HistBoostingConfig as HistBoostingConfig
    from netwright.models.baselines.lda import LDA as LDA
    from netwright.models.baselines.lda import LDAConfig as LDAConfig
    from netwright.models.baselines.svm import SVM as SVM
    from netwright.models.baselines.svm import SVMConfig as SVMConfig
    from netwright.models.baselines.trees import DecisionTree as DecisionTree
    from netwright.models.baselines.trees import DecisionTreeConfig as DecisionTreeConfig
    from netwright.models.baselines.trees import RandomForest as RandomForest
    from netwright.models.baselines.trees import RandomForestConfig as RandomForestConfig
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
    from netwright.models.linear.gaussian import (
        GaussianRegressionConfig as GaussianRegressionConfig,
    )
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
    from netwright.models.neurons.mcculloch_pitts import (
        McCullochPittsConfig as McCullochPittsConfig,
    )
    from netwright.models.neurons.multiclass import OneVsOne as OneVsOne
    from netwright.models.neurons.multiclass import OneVsOneConfig as OneVsOneConfig
    from netwright.models.neurons.multiclass import OneVsRest as OneVsRest
    from netwright.models.neurons.multiclass import OneVsRestConfig as OneVsRestConfig
    from netwright.models.neurons.perceptron import AveragedPerceptron as AveragedPerceptron
    from netwright.models.neurons.perceptron import (
        AveragedPerceptronConfig as AveragedPerceptronConfig,
    )
    from netwright.models.neurons.perceptron import Perceptron as Perceptron
    from netwright.models.neurons.perceptron import PerceptronConfig as PerceptronConfig
    from netwright.models.neurons.rosenblatt import Rosenblatt as Rosenblatt
    from netwright.models.neurons.rosenblatt import RosenblattConfig as RosenblattConfig
    from netwright.models.sequence.elman import Elman as Elman
    from netwright.models.sequence.elman import ElmanConfig as ElmanConfig
    from netwright.models.sequence.encoder_decoder import EncoderDecoder as EncoderDecoder
    from netwright.models.sequence.encoder_decoder import (
        EncoderDecoderConfig as EncoderDecoderConfig,
    )
    from netwright.models.sequence.gru import GRU as GRU
    from netwright.models.sequence.gru import GRUConfig as GRUConfig
    from netwright.models.sequence.jordan import Jordan as Jordan
    from netwright.models.sequence.jordan import JordanConfig as JordanConfig
    from netwright.models.sequence.lru import LRU as LRU
    from netwright.models.sequence.lru import LRUConfig as LRUConfig
    from netwright.models.sequence.lstm import LSTM as LSTM
    from netwright.models.sequence.lstm import LSTMConfig as LSTMConfig
    from netwright.models.sequence.min_recurrent import MinGRU as MinGRU
    from netwright.models.sequence.min_recurrent import MinGRUConfig as MinGRUConfig
    from netwright.models.sequence.min_recurrent import MinLSTM as MinLSTM
    from netwright.models.sequence.min_recurrent import MinLSTMConfig as MinLSTMConfig
    from netwright.models.tables.ft_transformer import FTTransformer as FTTransformer
    from netwright.models.tables.ft_transformer import FTTransformerConfig as FTTransformerConfig
    from netwright.models.tables.mlp_plr import MLPPLR as MLPPLR
    from netwright.models.tables.mlp_plr import MLPPLRConfig as MLPPLRConfig
    from netwright.models.tables.table_resnet import TableResNet as TableResNet
    from netwright.models.tables.table_resnet import TableResNetConfig as TableResNetConfig
    from netwright.models.transformers.bert import BERT as BERT
    from netwright.models.transformers.bert import BERTConfig as BERTConfig
    from netwright.models.transformers.gpt import GPT as GPT
    from netwright.models.transformers.gpt import GPTConfig as GPTConfig
    from netwright.models.transformers.t5 import T5 as T5
    from netwright.models.transformers.t5 import T5Config as T5Config
    from netwright.models.transformers.transformer import Transformer as Transformer
    from netwright.models.transformers.transformer import TransformerConfig as TransformerConfig
    from netwright.models.vision.alexnet import AlexNet as AlexNet
    from netwright.models.vision.alexnet import AlexNetConfig as AlexNetConfig
    from netwright.models.vision.cnn import CNN as CNN
    from netwright.models.vision.cnn import CNNConfig as CNNConfig
    from netwright.models.vision.detr import DETR as DETR
    from netwright.models.vision.detr import DETRConfig as DETRConfig
    from netwright.models.vision.lenet import LeNet5 as LeNet5
    from netwright.models.vision.lenet import LeNet5Config as LeNet5Config
    from netwright.models.vision.mlp_mixer import MLPMixer as MLPMixer
    from netwright.models.vision.mlp_mixer import MLPMixerConfig as MLPMixerConfig
    from netwright.models.vision.resnet9 import ResNet9 as ResNet9
    from netwright.models.vision.resnet9 import ResNet9Config as ResNet9Config
    from netwright.models.vision.unet import UNet as UNet
    from netwright.models.vision.unet import UNetConfig as UNetConfig
    from netwright.models.vision.vit import ViT as ViT
    from netwright.models.vision.vit import ViTConfig as ViTConfig
    from netwright.models.words.bag_of_vectors import BagOfVectors as BagOfVectors
    from netwright.models.words.bag_of_vectors import BagOfVectorsConfig as BagOfVectorsConfig
    from netwright.models.words.ngram import NGram as NGram
    from netwright.models.words.ngram import NGramConfig as NGramConfig
    from netwright.models.words.text_cnn import TextCNN as TextCNN
    from netwright.models.words.text_cnn import TextCNNConfig as TextCNNConfig
    from netwright.models.words.time_delay import TimeDelay as TimeDelay
    from netwright.models.words.time_delay import TimeDelayConfig as TimeDelayConfig
    from netwright.models.words.word2vec import Word2Vec as Word2Vec
    from netwright.models.words.word2vec import Word2VecConfig as Word2VecConfig

_KINDS = {kind: module for module, kind in map(MODELS.home, MODELS)}
_HOMES = {
    "MODELS": "netwright.models.catalog",
    "Model": "netwright.models.model",
    **_KINDS,
    **{f"{kind}Config": module for kind, module in _KINDS.items()},
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
