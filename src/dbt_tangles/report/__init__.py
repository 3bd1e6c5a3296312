"""`tangles report`: a folder of HTML that shows what the tables hold, for a browser without a network."""
