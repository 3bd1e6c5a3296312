"""Data structures and algorithms that several kernels share, all compiled and on plain arrays."""
