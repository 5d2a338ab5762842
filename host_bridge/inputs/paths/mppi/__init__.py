"""Model predictive path integral control: a path followed by sampling, forty plans a second."""
