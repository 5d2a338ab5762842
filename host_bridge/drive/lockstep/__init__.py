"""Drives of virtual cars in lockstep: the loop of one drive, and campaigns of many."""
