"""SSB classic messages: canonical text, ids, rules, signatures and tangle claims, without Spark."""
