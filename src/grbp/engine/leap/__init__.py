"""Rounds drawn whole, and many at once, with the law of walking every step."""
