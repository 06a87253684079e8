"""Tables of past cases: read and checked by every rule, or drawn from a known truth."""
