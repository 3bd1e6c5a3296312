"""Autobase logs: nodes of writers' logs, verified and typed one line at a time."""
