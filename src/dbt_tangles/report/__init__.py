"""`tangles report`: a folder of HTML that draws the tables, for a browser without a network."""
