"""The identification of a car from logs of any drive, by least squares."""
