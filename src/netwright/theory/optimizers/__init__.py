"""Claims on optimizers, and the races in which they are compared."""
