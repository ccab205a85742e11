"""The table of views: all that can be asked for by name, in the order in which a report shows them.

Each entry says where in the report it stands; those at the end are shown on request.
"""

from netwright.core.catalog import Catalog
from netwright.recipes.views.entry import ViewEntry

_HERE = "netwright.recipes.views"

VIEWS: Catalog[ViewEntry] = Catalog(
    "view",
    {
        "curves": f"{_HERE}.training.curves:CURVES",
        "gradient-norms": f"{_HERE}.training.gradient_norms:GRADIENT_NORMS",
        "profile": f"{_HERE}.training.update_profile:PROFILE",
        "confusion": f"{_HERE}.predictions.classes:CONFUSION",
        "label-errors": f"{_HERE}.predictions.classes:LABEL_ERRORS",
        "residuals": f"{_HERE}.predictions.reals:RESIDUALS",
        "calibration": f"{_HERE}.predictions.classes:CALIBRATION",
        "threshold-curves": f"{_HERE}.predictions.classes:THRESHOLD_CURVES",
        "decision-regions": f"{_HERE}.predictions.classes:DECISION_REGIONS",
        "fitted-curve": f"{_HERE}.predictions.reals:FITTED_CURVE",
        "prediction-surface": f"{_HERE}.predictions.reals:PREDICTION_SURFACE",
        "forecast": f"{_HERE}.predictions.reals:FORECAST",
        "permutation-importance": (
            f"{_HERE}.attribution.permutation_importance:PERMUTATION_IMPORTANCE"
        ),
        "next-tokens": f"{_HERE}.predictions.next_tokens:NEXT_TOKENS",
        "masked-tokens": f"{_HERE}.predictions.texts:MASKED_TOKENS",
        "marked-spans": f"{_HERE}.predictions.texts:MARKED_SPANS",
        "alignment": f"{_HERE}.inside.attention:ALIGNMENT",
        "wrong-examples": f"{_HERE}.predictions.classes:WRONG_EXAMPLES",
        "worst-errors": f"{_HERE}.predictions.reals:WORST_ERRORS",
        "segmentation": f"{_HERE}.predictions.segmentation:SEGMENTATION",
        "predicted-boxes": f"{_HERE}.predictions.boxes:PREDICTED_BOXES",
        "class-balance": f"{_HERE}.dataset.targets:CLASS_BALANCE",
        "target-spread": f"{_HERE}.dataset.targets:TARGET_SPREAD",
        "ensemble-members": f"{_HERE}.own_views:ENSEMBLE_MEMBERS",
        "contact-sheet": f"{_HERE}.dataset.contact_sheet:CONTACT_SHEET",
        "filters": f"{_HERE}.inside.convolutions:FILTERS",
        "feature-maps": f"{_HERE}.inside.convolutions:FEATURE_MAPS",
        "attention": f"{_HERE}.inside.attention:ATTENTION",
        "attention-rollout": f"{_HERE}.inside.attention_rollout:ATTENTION_ROLLOUT",
        "state-norms": f"{_HERE}.inside.state_norms:STATE_NORMS",
        "feature-importance": f"{_HERE}.own_views:FEATURE_IMPORTANCE",
        "hyperplane": f"{_HERE}.own_views:HYPERPLANE",
        "weight-path": f"{_HERE}.own_views:WEIGHT_PATH",
        "noise-band": f"{_HERE}.own_views:NOISE_BAND",
        "residual-density": f"{_HERE}.own_views:RESIDUAL_DENSITY",
        "recalled-patterns": f"{_HERE}.own_views:RECALLED_PATTERNS",
        "energy-descent": f"{_HERE}.own_views:ENERGY_DESCENT",
        "similar-words": f"{_HERE}.inside.word_views:SIMILAR_WORDS",
        "words-by-epoch": f"{_HERE}.inside.word_views:WORDS_BY_EPOCH",
        "word-map": f"{_HERE}.inside.word_views:WORD_MAP",
        "vector-dimensions": f"{_HERE}.inside.word_views:VECTOR_DIMENSIONS",
        "summary": f"{_HERE}.inside.summary:SUMMARY",
        "backprop": f"{_HERE}.inside.backprop:BACKPROP",
        "units": f"{_HERE}.inside.unit_answers:UNITS",
        "activations": f"{_HERE}.inside.activations:ACTIVATIONS",
        "gradient-flow": f"{_HERE}.training.gradient_flow:GRADIENT_FLOW",
        "weight-spectra": f"{_HERE}.inside.weight_spectra:WEIGHT_SPECTRA",
        "linear-regions": f"{_HERE}.inside.linear_regions:LINEAR_REGIONS",
        "partial-dependence": f"{_HERE}.attribution.partial_dependence:PARTIAL_DEPENDENCE",
        "lift": f"{_HERE}.predictions.classes:LIFT",
        "saliency": f"{_HERE}.attribution.saliency:SALIENCY",
        "occlusion": f"{_HERE}.attribution.occlusion:OCCLUSION",
        "embedding-map": f"{_HERE}.inside.embedding_map:EMBEDDING_MAP",
        "landscape": f"{_HERE}.training.landscape:LANDSCAPE",
        "curvature": f"{_HERE}.training.curvature:CURVATURE",
        "race": f"{_HERE}.training.race:RACE",
    },
)
