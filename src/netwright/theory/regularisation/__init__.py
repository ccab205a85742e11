"""Claims on regularisation: penalties, noise, ensembles and stopping early."""
