"""The stepper: its tape, its sweep, its checks and its pages."""
