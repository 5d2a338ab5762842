"""The records of a car's host about visits, and about the stand on which it stands."""
