"""The files that calibrations are kept in: of a fit, and of logs."""
