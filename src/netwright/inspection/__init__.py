"""Look inside models and runs: numbers measured once, the figures that draw them, and one page.

`nw.inspect(run, name)` shows a run by its views; the `measure_` functions take tensors and know no
run.
"""

from typing import TYPE_CHECKING

from netwright.core.lazy_names import homes_in, lazy_names

if TYPE_CHECKING:
    from netwright.inspection.attribution.activation_maximum import (
        measure_activation_maximum as measure_activation_maximum,
    )
    from netwright.inspection.attribution.feature_importance import (
        measure_feature_importance as measure_feature_importance,
    )
    from netwright.inspection.attribution.occlusion import measure_occlusion as measure_occlusion
    from netwright.inspection.attribution.permutation_importance import (
        measure_permutation_importance as measure_permutation_importance,
    )
    from netwright.inspection.attribution.saliency import measure_saliency as measure_saliency
    from netwright.inspection.attribution.weight_path import (
        measure_weight_path as measure_weight_path,
    )
    from netwright.inspection.dataset.class_balance import (
        measure_class_balance as measure_class_balance,
    )
    from netwright.inspection.dataset.contact_sheet import (
        measure_contact_sheet as measure_contact_sheet,
    )
    from netwright.inspection.dataset.target_spread import (
        measure_target_spread as measure_target_spread,
    )
    from netwright.inspection.drawing.page import Page as Page
    from netwright.inspection.drawing.view import View as View
    from netwright.inspection.inside.activations import measure_activations as measure_activations
    from netwright.inspection.inside.attention_maps import (
        measure_attention_maps as measure_attention_maps,
    )
    from netwright.inspection.inside.attention_reading import read_attention as read_attention
    from netwright.inspection.inside.attention_reading import show_attention as show_attention
    from netwright.inspection.inside.conv_filters import (
        measure_conv_filters as measure_conv_filters,
    )
    from netwright.inspection.inside.embedding_map import (
        measure_embedding_map as measure_embedding_map,
    )
    from netwright.inspection.inside.energy_descent import (
        measure_energy_descent as measure_energy_descent,
    )
    from netwright.inspection.inside.feature_maps import (
        measure_feature_maps as measure_feature_maps,
    )
    from netwright.inspection.inside.filters import measure_filters as measure_filters
    from netwright.inspection.inside.linear_regions import (
        measure_linear_regions as measure_linear_regions,
    )
    from netwright.inspection.inside.recalled_patterns import (
        measure_recalled_patterns as measure_recalled_patterns,
    )
    from netwright.inspection.inside.state_norms import measure_state_norms as measure_state_norms
    from netwright.inspection.inside.summary import measure_summary as measure_summary
    from netwright.inspection.inside.weight_spectra import (
        measure_weight_spectra as measure_weight_spectra,
    )
    from netwright.inspection.predictions.calibration import (
        measure_calibration as measure_calibration,
    )
    from netwright.inspection.predictions.confusion import measure_confusion as measure_confusion
    from netwright.inspection.predictions.decision_regions import (
        measure_decision_regions as measure_decision_regions,
    )
    from netwright.inspection.predictions.ensemble_members import (
        measure_ensemble_members as measure_ensemble_members,
    )
    from netwright.inspection.predictions.fitted_curve import (
        measure_fitted_curve as measure_fitted_curve,
    )
    from netwright.inspection.predictions.forecast import measure_forecast as measure_forecast
    from netwright.inspection.predictions.hyperplane import measure_hyperplane as measure_hyperplane
    from netwright.inspection.predictions.label_errors import (
        measure_label_errors as measure_label_errors,
    )
    from netwright.inspection.predictions.next_tokens import (
        measure_next_tokens as measure_next_tokens,
    )
    from netwright.inspection.predictions.noise_band import measure_noise_band as measure_noise_band
    from netwright.inspection.predictions.prediction_surface import (
        measure_prediction_surface as measure_prediction_surface,
    )
    from netwright.inspection.predictions.residual_density import (
        measure_residual_density as measure_residual_density,
    )
    from netwright.inspection.predictions.residuals import measure_residuals as measure_residuals
    from netwright.inspection.predictions.segmentation_overlay import (
        measure_segmentation as measure_segmentation,
    )
    from netwright.inspection.predictions.threshold_curves import (
        measure_threshold_curves as measure_threshold_curves,
    )
    from netwright.inspection.predictions.worst_errors import (
        measure_worst_errors as measure_worst_errors,
    )
    from netwright.inspection.predictions.wrong_examples import (
        measure_wrong_examples as measure_wrong_examples,
    )
    from netwright.inspection.stepper.step_through import StepThrough as StepThrough
    from netwright.inspection.stepper.step_through import step_through as step_through
    from netwright.inspection.training.curvature import measure_curvature as measure_curvature
    from netwright.inspection.training.curves import measure_curves as measure_curves
    from netwright.inspection.training.descent_paths import (
        measure_descent_paths as measure_descent_paths,
    )
    from netwright.inspection.training.gradient_flow import (
        measure_gradient_flow as measure_gradient_flow,
    )
    from netwright.inspection.training.landscape import measure_landscape as measure_landscape
    from netwright.inspection.training.learning_rate_range import (
        measure_learning_rate_range as measure_learning_rate_range,
    )
    from netwright.inspection.training.learning_rates import (
        measure_learning_rates as measure_learning_rates,
    )
    from netwright.inspection.training.paired_scores import (
        measure_paired_scores as measure_paired_scores,
    )
    from netwright.inspection.training.race_curves import measure_race as measure_race
    from netwright.inspection.training.search_history import (
        measure_search_history as measure_search_history,
    )
    from netwright.inspection.training.setting_effects import (
        measure_setting_effects as measure_setting_effects,
    )

_HOMES = homes_in(
    __name__,
    {
        "attribution.activation_maximum": ["measure_activation_maximum"],
        "attribution.feature_importance": ["measure_feature_importance"],
        "attribution.occlusion": ["measure_occlusion"],
        "attribution.permutation_importance": ["measure_permutation_importance"],
        "attribution.saliency": ["measure_saliency"],
        "attribution.weight_path": ["measure_weight_path"],
        "dataset.class_balance": ["measure_class_balance"],
        "dataset.contact_sheet": ["measure_contact_sheet"],
        "dataset.target_spread": ["measure_target_spread"],
        "drawing.page": ["Page"],
        "drawing.view": ["View"],
        "inside.activations": ["measure_activations"],
        "inside.attention_maps": ["measure_attention_maps"],
        "inside.attention_reading": ["read_attention", "show_attention"],
        "inside.conv_filters": ["measure_conv_filters"],
        "inside.embedding_map": ["measure_embedding_map"],
        "inside.energy_descent": ["measure_energy_descent"],
        "inside.feature_maps": ["measure_feature_maps"],
        "inside.filters": ["measure_filters"],
        "inside.linear_regions": ["measure_linear_regions"],
        "inside.recalled_patterns": ["measure_recalled_patterns"],
        "inside.state_norms": ["measure_state_norms"],
        "inside.summary": ["measure_summary"],
        "inside.weight_spectra": ["measure_weight_spectra"],
        "predictions.calibration": ["measure_calibration"],
        "predictions.confusion": ["measure_confusion"],
        "predictions.decision_regions": ["measure_decision_regions"],
        "predictions.ensemble_members": ["measure_ensemble_members"],
        "predictions.fitted_curve": ["measure_fitted_curve"],
        "predictions.forecast": ["measure_forecast"],
        "predictions.hyperplane": ["measure_hyperplane"],
        "predictions.label_errors": ["measure_label_errors"],
        "predictions.next_tokens": ["measure_next_tokens"],
        "predictions.noise_band": ["measure_noise_band"],
        "predictions.prediction_surface": ["measure_prediction_surface"],
        "predictions.residual_density": ["measure_residual_density"],
        "predictions.residuals": ["measure_residuals"],
        "predictions.segmentation_overlay": ["measure_segmentation"],
        "predictions.worst_errors": ["measure_worst_errors"],
        "predictions.threshold_curves": ["measure_threshold_curves"],
        "predictions.wrong_examples": ["measure_wrong_examples"],
        "stepper.step_through": ["StepThrough", "step_through"],
        "training.curvature": ["measure_curvature"],
        "training.curves": ["measure_curves"],
        "training.descent_paths": ["measure_descent_paths"],
        "training.gradient_flow": ["measure_gradient_flow"],
        "training.landscape": ["measure_landscape"],
        "training.learning_rate_range": ["measure_learning_rate_range"],
        "training.learning_rates": ["measure_learning_rates"],
        "training.paired_scores": ["measure_paired_scores"],
        "training.race_curves": ["measure_race"],
        "training.search_history": ["measure_search_history"],
        "training.setting_effects": ["measure_setting_effects"],
    },
)
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
