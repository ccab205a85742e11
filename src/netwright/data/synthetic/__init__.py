"""Made-up data: classes in the plane and functions to learn."""
