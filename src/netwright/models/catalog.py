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
        "restarts": "netwright.models.ensembles.restarts:Restarts",
        "bagging": "netwright.models.ensembles.bagging:Bagging",
        "boosting": "netwright.models.ensembles.boosting:Boosting",
        "stacking": "netwright.models.ensembles.stacking:Stacking",
    },
)
