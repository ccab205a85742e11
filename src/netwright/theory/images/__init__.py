"""Claims on networks for images: convolution, pooling, depth and transfer."""
