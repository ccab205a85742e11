"""Convolution: kernels, boundaries, pooling, receptive fields and residual blocks."""
