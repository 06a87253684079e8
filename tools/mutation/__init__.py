"""What `make mutants RANDOM=300` is made of: drawn changes, and the tests that run them."""
