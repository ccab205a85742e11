"""Optimizers and schedules: torch's own, found by name."""

from typing import TYPE_CHECKING

from netwright.core.lazy_names import homes_in, lazy_names
from netwright.optimizers.conjugate_gradient import conjugate_gradient as conjugate_gradient

if TYPE_CHECKING:
    from netwright.optimizers.catalog import OPTIMIZERS as OPTIMIZERS
    from netwright.optimizers.curvature import gradient_of as gradient_of
    from netwright.optimizers.curvature import hessian_of as hessian_of
    from netwright.optimizers.curvature import hessian_products as hessian_products
    from netwright.optimizers.foreach_optimizer import ForeachOptimizer as ForeachOptimizer
    from netwright.optimizers.heavy_ball import HeavyBall as HeavyBall
    from netwright.optimizers.hessian_free import HessianFree as HessianFree
    from netwright.optimizers.lion import Lion as Lion
    from netwright.optimizers.muon import Muon as Muon
    from netwright.optimizers.newton import Newton as Newton
    from netwright.optimizers.optimizer import OptimizerEntry as OptimizerEntry
    from netwright.optimizers.optimizer import build_optimizer as build_optimizer
    from netwright.optimizers.rules import RULES as RULES
    from netwright.optimizers.rules import Rule as Rule
    from netwright.optimizers.schedule import Schedule as Schedule
    from netwright.optimizers.schedules import SCHEDULES as SCHEDULES
    from netwright.optimizers.schedules import build_schedule as build_schedule
    from netwright.optimizers.svrg import SVRG as SVRG

_HOMES = homes_in(
    __name__,
    {
        "catalog": ["OPTIMIZERS"],
        "curvature": ["gradient_of", "hessian_of", "hessian_products"],
        "foreach_optimizer": ["ForeachOptimizer"],
        "heavy_ball": ["HeavyBall"],
        "hessian_free": ["HessianFree"],
        "lion": ["Lion"],
        "muon": ["Muon"],
        "newton": ["Newton"],
        "optimizer": ["OptimizerEntry", "build_optimizer"],
        "rules": ["RULES", "Rule"],
        "schedule": ["Schedule"],
        "schedules": ["SCHEDULES", "build_schedule"],
        "svrg": ["SVRG"],
    },
)
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, loaded=["conjugate_gradient"])
