"""netwright: train, see and prove everything a deep-learning course teaches."""
