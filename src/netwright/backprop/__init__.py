"""Derivatives worked by hand: forward and backward of each layer as pure functions, no autograd."""
