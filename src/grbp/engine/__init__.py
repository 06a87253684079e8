"""The engine: it plays many replicas of many rounds, step by step or in leaps."""
