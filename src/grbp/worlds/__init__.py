"""Truths: the problem, chains, chances that drift, groups that differ; and what is best in them."""
