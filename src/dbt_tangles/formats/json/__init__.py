"""JSON as JavaScript reads and prints it: parsing of lines (`parse`), the faults of lines (`framing`), and texts."""
