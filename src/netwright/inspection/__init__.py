"""Look inside models and runs: numbers measured once, the figures that draw them, and one page."""
