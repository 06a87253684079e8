"""Compute with numbers that know nothing of the problem: streams, special functions, draws."""
