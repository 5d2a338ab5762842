"""Cars over the air: what an owner hears by its network, and the far end of that."""
