"""Models as scikit-learn estimators."""
