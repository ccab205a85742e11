"""The trackers that can be named."""

from netwright.core.catalog import Catalog
from netwright.train.trackers.tracker import Tracker

TRACKERS: Catalog[type[Tracker]] = Catalog(
    "tracker",
    {
        "tensorboard": "netwright.train.trackers.tensorboard_tracker:TensorBoardTracker",
        "wandb": "netwright.train.trackers.wandb_tracker:WandbTracker",
        "mlflow": "netwright.train.trackers.mlflow_tracker:MlflowTracker",
    },
)
