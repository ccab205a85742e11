"""Neurons: the McCulloch-Pitts unit, perceptrons, the delta rule, a fixed random layer."""
