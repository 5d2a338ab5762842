"""Cars that say on the network where they are served, and the list of those that were heard."""
