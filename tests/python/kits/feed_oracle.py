"""The chain of a feed, by a short plain version of its rule.

A chain starts with the one message of sequence 1 and null previous, and continues while exactly one message has the
next sequence and names the chain's last message as its previous.
"""

from collections import defaultdict


def chain_of(messages: list[dict]) -> list[str]:
    at = defaultdict(list)
    for message in messages:
        at[message["sequence"]].append(message)
    chain, last = [], None
    while True:
        following = [m["key"] for m in at[len(chain) + 1] if m["previous"] == last]
        if len(following) != 1:
            return chain
        last = following[0]
        chain.append(last)
