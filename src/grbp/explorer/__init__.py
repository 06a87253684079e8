"""The explorer: a page with sliders to teach with, and what a server plays and judges for it."""
