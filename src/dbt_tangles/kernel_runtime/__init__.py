"""How kernels run: batches of Arrow rows in and out, interpretation or compilation, the cache of machine code.

Algorithms and verifiers import this package; it knows no tangle and no message.
"""
