"""Autobase: one order of many writers' logs, and how much of it no other replica can ever contradict."""
