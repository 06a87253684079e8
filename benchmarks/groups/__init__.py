"""What is measured, group by group."""
