"""Learners of chains whose chances differ by state: counters by state, and one action a state."""
