"""A run beside its twin: prediction errors, the prediction band, and a picture."""
