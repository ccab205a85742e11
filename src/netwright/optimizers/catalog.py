"""The optimizers that can be named: torch's own, and what torch has not."""

from netwright.core.catalog import Catalog
from netwright.optimizers.optimizer import OptimizerEntry

OPTIMIZERS: Catalog[OptimizerEntry] = Catalog(
    "optimizer",
    {
        "adam": "netwright.optimizers.torch_optimizers:ADAM",
        "adamw": "netwright.optimizers.torch_optimizers:ADAMW",
        "gradient-descent": "netwright.optimizers.torch_optimizers:GRADIENT_DESCENT",
        "sgd": "netwright.optimizers.torch_optimizers:SGD",
        "momentum": "netwright.optimizers.torch_optimizers:MOMENTUM",
        "heavy-ball": "netwright.optimizers.heavy_ball:HEAVY_BALL",
        "nesterov": "netwright.optimizers.torch_optimizers:NESTEROV",
        "adagrad": "netwright.optimizers.torch_optimizers:ADAGRAD",
        "adadelta": "netwright.optimizers.torch_optimizers:ADADELTA",
        "rmsprop": "netwright.optimizers.torch_optimizers:RMSPROP",
        "nadam": "netwright.optimizers.torch_optimizers:NADAM",
        "lion": "netwright.optimizers.lion:LION",
        "muon": "netwright.optimizers.muon:MUON",
        "svrg": "netwright.optimizers.svrg:SVRG_ENTRY",
        "lbfgs": "netwright.optimizers.torch_optimizers:LBFGS",
        "newton": "netwright.optimizers.newton:NEWTON",
        "hessian-free": "netwright.optimizers.hessian_free:HESSIAN_FREE",
    },
)
