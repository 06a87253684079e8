"""Kernels: the markers, and compiled code that is kept on disk."""
