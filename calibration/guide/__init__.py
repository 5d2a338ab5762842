"""The guided calibration: drives that determine a car, and the questions to a person."""
