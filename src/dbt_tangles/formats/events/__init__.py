"""Event logs: lines that state the causes of each event of a timeline."""
