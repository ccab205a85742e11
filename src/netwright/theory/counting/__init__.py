"""Claims on counting and cost: parameters, gradients and game trees."""
