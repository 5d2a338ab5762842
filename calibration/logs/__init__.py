"""From a log of any drive to what it tells about the car."""
