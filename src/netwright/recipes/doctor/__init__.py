"""What seems wrong with data and a model before anything is trained."""
