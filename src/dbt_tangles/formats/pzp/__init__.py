"""pzp messages and their feed tangles."""
