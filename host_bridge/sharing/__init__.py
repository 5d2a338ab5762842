"""One car, many programs: its owner, how it is reached, and the stops that anybody may send."""
