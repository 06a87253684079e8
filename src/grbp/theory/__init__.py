"""Exact answers about a problem, and an independent solver that agrees with them."""
