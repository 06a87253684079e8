"""The paper's experiments: its claims, the verdict on them, the report, one command."""
