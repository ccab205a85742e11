"""Commands for training that outgrows a machine or its memory."""
