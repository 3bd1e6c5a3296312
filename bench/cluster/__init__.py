"""Builds past one process: a cluster and servers on 127.0.0.1, and what becomes of builds when parts of it fail."""
