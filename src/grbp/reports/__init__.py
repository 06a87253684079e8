"""Reports: each is one HTML file that fetches nothing and has no scripts, made from a template."""
