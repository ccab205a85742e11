"""The contestants of the training-loop benchmark, one library a file."""
