"""From files of logs to lines that a verifier can take: framing mistakes, numbers of JSON, batches of lines."""
