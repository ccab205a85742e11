"""Models: each an ordinary `nn.Module` with its config in the same file."""
