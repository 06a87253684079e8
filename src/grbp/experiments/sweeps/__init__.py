"""Sweeps: many problems and learners, on many processes and machines, kept chunk by chunk."""
