"""Compute with numbers that know nothing of the problem: streams, draws, kernels and their code."""
