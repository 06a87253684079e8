"""Truths that learners meet beyond the paper's: chains, chances that drift, groups that differ."""
