"""Networks for images: convolution, pooling, residual learning, segmentation."""
