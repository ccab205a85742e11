"""The models that can be named."""

from collections.abc import Mapping

from netwright.core.catalog import Catalog
from netwright.models.model import Model
from netwright.models.published_sizes import (
    BERTS,
    CIFAR_RESNETS,
    GPTS,
    RESNETS,
    TRANSFORMERS,
    VGGS,
    VITS,
    PublishedSize,
)


def _rows_of(module: str, sizes: Mapping[str, PublishedSize]) -> dict[str, str]:
    """The rows of a family's published sizes."""
    return {name: f"{module}:{size.kind}" for name, size in sizes.items()}


MODELS: Catalog[type[Model]] = Catalog(
    "model",
    {
        "mlp": "netwright.models.mlp:MLP",
        "mlp-plr": "netwright.models.tables.mlp_plr:MLPPLR",
        "table-resnet": "netwright.models.tables.table_resnet:TableResNet",
        "ft-transformer": "netwright.models.tables.ft_transformer:FTTransformer",
        "linear-regression": "netwright.models.linear.regression:LinearRegression",
        "least-squares": "netwright.models.linear.regression:LeastSquares",
        "ridge": "netwright.models.linear.regression:Ridge",
        "logistic": "netwright.models.linear.classification:LogisticRegression",
        "softmax": "netwright.models.linear.classification:SoftmaxRegression",
        "lasso": "netwright.models.linear.lasso:Lasso",
        "polynomial-regression": "netwright.models.linear.polynomial:PolynomialRegression",
        "gaussian-regression": "netwright.models.linear.gaussian:GaussianRegression",
        "logistic-newton": "netwright.models.linear.newton:LogisticNewton",
        "softmax-newton": "netwright.models.linear.newton:SoftmaxNewton",
        "kernel-regression": "netwright.models.kernel_regression:KernelRegression",
        "mcculloch-pitts": "netwright.models.neurons.mcculloch_pitts:McCullochPitts",
        "perceptron": "netwright.models.neurons.perceptron:Perceptron",
        "averaged-perceptron": "netwright.models.neurons.perceptron:AveragedPerceptron",
        "delta-rule": "netwright.models.neurons.delta_rule:DeltaRule",
        "rosenblatt": "netwright.models.neurons.rosenblatt:Rosenblatt",
        "one-vs-rest": "netwright.models.neurons.multiclass:OneVsRest",
        "one-vs-one": "netwright.models.neurons.multiclass:OneVsOne",
        "hopfield": "netwright.models.memory.hopfield:Hopfield",
        "dense-memory": "netwright.models.memory.dense_memory:DenseMemory",
        "modern-hopfield": "netwright.models.memory.modern_hopfield:ModernHopfield",
        "rbm": "netwright.models.memory.rbm:RBM",
        "lda": "netwright.models.baselines.lda:LDA",
        "svm": "netwright.models.baselines.svm:SVM",
        "decision-tree": "netwright.models.baselines.trees:DecisionTree",
        "random-forest": "netwright.models.baselines.trees:RandomForest",
        "gradient-boosting": "netwright.models.baselines.trees:GradientBoosting",
        "lenet5": "netwright.models.vision.lenet:LeNet5",
        "cnn": "netwright.models.vision.cnn:CNN",
        "alexnet": "netwright.models.vision.alexnet:AlexNet",
        **_rows_of("netwright.models.vision.vgg", VGGS),
        **_rows_of("netwright.models.vision.resnet", RESNETS),
        "resnet9": "netwright.models.vision.resnet9:ResNet9",
        **_rows_of("netwright.models.vision.cifar_resnet", CIFAR_RESNETS),
        "vit": "netwright.models.vision.vit:ViT",
        **_rows_of("netwright.models.vision.vit", VITS),
        "mlp-mixer": "netwright.models.vision.mlp_mixer:MLPMixer",
        "unet": "netwright.models.vision.unet:UNet",
        "elman": "netwright.models.sequence.elman:Elman",
        "jordan": "netwright.models.sequence.jordan:Jordan",
        "lstm": "netwright.models.sequence.lstm:LSTM",
        "gru": "netwright.models.sequence.gru:GRU",
        "mingru": "netwright.models.sequence.min_recurrent:MinGRU",
        "minlstm": "netwright.models.sequence.min_recurrent:MinLSTM",
        "lru": "netwright.models.sequence.lru:LRU",
        "encoder-decoder": "netwright.models.sequence.encoder_decoder:EncoderDecoder",
        "transformer": "netwright.models.transformers.transformer:Transformer",
        **_rows_of("netwright.models.transformers.transformer", TRANSFORMERS),
        "bert": "netwright.models.transformers.bert:BERT",
        **_rows_of("netwright.models.transformers.bert", BERTS),
        "gpt": "netwright.models.transformers.gpt:GPT",
        **_rows_of("netwright.models.transformers.gpt", GPTS),
        "bag-of-vectors": "netwright.models.words.bag_of_vectors:BagOfVectors",
        "text-cnn": "netwright.models.words.text_cnn:TextCNN",
        "time-delay": "netwright.models.words.time_delay:TimeDelay",
        "word2vec": "netwright.models.words.word2vec:Word2Vec",
        "restarts": "netwright.models.ensembles.restarts:Restarts",
        "bagging": "netwright.models.ensembles.bagging:Bagging",
        "boosting": "netwright.models.ensembles.boosting:Boosting",
        "stacking": "netwright.models.ensembles.stacking:Stacking",
    },
)
