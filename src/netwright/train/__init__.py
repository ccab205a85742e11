"""Training: state, events, step, loop, evaluation, checkpoints. It never imports a model."""
