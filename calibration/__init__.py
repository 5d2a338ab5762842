"""From measurements to numbers; README.md says how."""
