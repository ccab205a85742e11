"""What each kind of column becomes: numbers, categories, dates and words as features."""
