"""Memories: Hopfield networks, dense and modern, and the restricted Boltzmann machine."""
