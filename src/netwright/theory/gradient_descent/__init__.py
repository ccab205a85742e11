"""Claims on gradient descent: steps, rates, noise and saddles."""
