"""ScuttleSort: one order of a timeline's events that all replicas agree on, and the edits that lead to it."""
