"""Ready-made recipes: a YAML file each, tried on the data that it names."""
