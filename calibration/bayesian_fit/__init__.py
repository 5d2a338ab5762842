"""The fit of a simulated car to measured runs, with priors, run effects and a noise model."""
