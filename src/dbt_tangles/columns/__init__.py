"""Columns of whole groups as arrays: strings, lists, dense ids, and the links between rows."""
