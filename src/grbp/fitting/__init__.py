"""From records of past cases to a decision: estimates, tests of the assumptions, a sentence."""
