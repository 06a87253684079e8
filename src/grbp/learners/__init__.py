"""Learners: the contract, a small file for each family, and the one table of all."""
