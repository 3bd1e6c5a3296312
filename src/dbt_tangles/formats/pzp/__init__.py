"""pzp messages and their feed tangles (pzp-db 1.0.4, msg v4)."""
