"""Recipes: model, data, training and seed as one config; a run is what a recipe leaves."""
