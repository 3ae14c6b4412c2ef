"""The interactive part of the page: all samples, comparisons of runs, profiles, a table of all runs."""
