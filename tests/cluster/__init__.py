"""Builds on more than one process: a cluster and servers on 127.0.0.1."""
