"""Training that is watched and steered while it goes on: small models, two features or images."""
