"""State the problem: its numbers, one transition of it, the checks of what a user gives."""
