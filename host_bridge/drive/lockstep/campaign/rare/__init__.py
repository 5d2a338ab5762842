"""Rare events: importance splitting of a campaign's case."""
