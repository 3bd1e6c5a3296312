"""Data structures and algorithms shared by several kernels, compiled and on plain arrays."""
