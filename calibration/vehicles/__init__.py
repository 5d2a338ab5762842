"""A calibration in use: as a virtual car, on a board, as a vehicle file and as vesc.yaml."""
