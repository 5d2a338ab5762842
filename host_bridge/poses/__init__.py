"""Where a car is, by whoever says so: pose sources, and when a pose is not to be believed."""
