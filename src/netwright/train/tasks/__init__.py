"""Tasks: what the loss is, what is measured and what is predicted, for each kind of target."""
