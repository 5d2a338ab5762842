"""Campaigns: many computed drives of virtual cars, kept row by row and judged with intervals."""
