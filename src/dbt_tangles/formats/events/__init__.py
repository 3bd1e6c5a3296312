"""Event logs: lines that state which event of which timeline came after which others."""
