"""The engine: many replicas of many rounds, walked or leapt."""
