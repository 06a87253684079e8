"""Answer exactly what can be known about one problem, in closed form and by dynamic programming."""
