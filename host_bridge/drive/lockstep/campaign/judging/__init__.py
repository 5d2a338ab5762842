"""Judges the rows of a campaign: intervals, comparisons, report and tables."""
