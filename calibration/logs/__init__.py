"""The identification of a car's parameters from logs of any drive."""
