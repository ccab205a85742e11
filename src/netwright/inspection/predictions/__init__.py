"""Views of what a model predicts: right, wrong, sure and unsure."""
