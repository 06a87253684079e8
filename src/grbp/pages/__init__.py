"""Pages: each is one HTML file without scripts that fetches nothing, filled in from a template."""
