"""The stepper: a forward pass written down, swept backward, checked by numbers, and shown."""
