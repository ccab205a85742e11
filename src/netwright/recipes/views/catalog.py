"""The table of views that can be asked for by name."""

from netwright.core.catalog import Catalog
from netwright.recipes.views.entry import ViewEntry

_HERE = "netwright.recipes.views"

VIEWS: Catalog[ViewEntry] = Catalog(
    "view",
    {
        "summary": f"{_HERE}.report_views:SUMMARY",
        "curves": f"{_HERE}.report_views:CURVES",
        "confusion": f"{_HERE}.report_views:CONFUSION",
        "calibration": f"{_HERE}.report_views:CALIBRATION",
        "decision-regions": f"{_HERE}.report_views:DECISION_REGIONS",
        "fitted-curve": f"{_HERE}.report_views:FITTED_CURVE",
        "prediction-surface": f"{_HERE}.report_views:PREDICTION_SURFACE",
        "residuals": f"{_HERE}.report_views:RESIDUALS",
        "label-errors": f"{_HERE}.report_views:LABEL_ERRORS",
        "wrong-examples": f"{_HERE}.report_views:WRONG_EXAMPLES",
        "worst-errors": f"{_HERE}.report_views:WORST_ERRORS",
        "segmentation": f"{_HERE}.report_views:SEGMENTATION",
        "forecast": f"{_HERE}.report_views:FORECAST",
        "next-tokens": f"{_HERE}.report_views:NEXT_TOKENS",
        "state-norms": f"{_HERE}.report_views:STATE_NORMS",
        "attention": f"{_HERE}.report_views:ATTENTION",
        "alignment": f"{_HERE}.report_views:ALIGNMENT",
        "filters": f"{_HERE}.report_views:FILTERS",
        "feature-maps": f"{_HERE}.report_views:FEATURE_MAPS",
        "contact-sheet": f"{_HERE}.report_views:CONTACT_SHEET",
        "class-balance": f"{_HERE}.report_views:CLASS_BALANCE",
        "target-spread": f"{_HERE}.report_views:TARGET_SPREAD",
        "ensemble-members": f"{_HERE}.report_views:ENSEMBLE_MEMBERS",
        "feature-importance": f"{_HERE}.report_views:FEATURE_IMPORTANCE",
        "hyperplane": f"{_HERE}.report_views:HYPERPLANE",
        "weight-path": f"{_HERE}.report_views:WEIGHT_PATH",
        "noise-band": f"{_HERE}.report_views:NOISE_BAND",
        "residual-density": f"{_HERE}.report_views:RESIDUAL_DENSITY",
        "recalled-patterns": f"{_HERE}.report_views:RECALLED_PATTERNS",
        "energy-descent": f"{_HERE}.report_views:ENERGY_DESCENT",
        "backprop": f"{_HERE}.inside.backprop:BACKPROP",
        "activations": f"{_HERE}.inside.activations:ACTIVATIONS",
        "gradient-flow": f"{_HERE}.training.gradient_flow:GRADIENT_FLOW",
        "weight-spectra": f"{_HERE}.inside.weight_spectra:WEIGHT_SPECTRA",
        "linear-regions": f"{_HERE}.inside.linear_regions:LINEAR_REGIONS",
        "saliency": f"{_HERE}.attribution.saliency:SALIENCY",
        "occlusion": f"{_HERE}.attribution.occlusion:OCCLUSION",
        "embedding-map": f"{_HERE}.inside.embedding_map:EMBEDDING_MAP",
        "landscape": f"{_HERE}.training.landscape:LANDSCAPE",
        "curvature": f"{_HERE}.training.curvature:CURVATURE",
        "race": f"{_HERE}.training.race:RACE",
    },
)
