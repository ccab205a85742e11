"""Claims on single neurons: perceptrons, what they separate, and exclusive or."""
