"""Runs SQL models that iterate to a fixpoint: `rounds` has the loop, and `stores` keeps the rows of a round."""
