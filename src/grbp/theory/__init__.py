"""Answer exactly, in closed form, what can be known about the paper's problem."""
