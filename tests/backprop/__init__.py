"""Hand-worked derivatives against autograd, finite differences and their laws."""
