"""Maps of drives with a LIDAR, and the place of a car in a map."""
