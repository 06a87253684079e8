"""The fast engine: it draws whole rounds, and many at once, with the law of walking every step."""
