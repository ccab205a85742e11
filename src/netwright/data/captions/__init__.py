"""Images, and what is said of them in words."""
