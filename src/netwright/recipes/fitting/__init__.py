"""From a recipe to a run: prepare, check one batch, train, measure, write."""
