"""Parts of one update of the weights that stay on the device."""
