"""A feed: how far it is verified, why its chain ends there, and the place of a message in it."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.page import quantity
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import sections

_SQL = sections(__file__, "message")


def explain(tables: Tables, author: str) -> dict:
    """Collect the rows about the feed of an author of `feeds`."""
    feed = tables.row(_SQL["feed"], author=author)
    outside = tables.rows(_SQL["feed_outside"], author=author)
    counts = tables.rows(_SQL["feed_outside_counts"], author=author)
    return {
        "kind": "feed",
        "id": author,
        "feed": feed,
        "outside_counts": {row["reason"]: row["n"] for row in counts},
        "outside": [row | {"meaning": messages.feed(row["reason"])} for row in outside],
        "next": tables.row(_SQL["feed_next"], author=author),
        "is_well": bool(feed) and feed["status"] == "complete",
    }


def explain_place(tables: Tables, message: dict) -> dict | None:
    """Collect the rows about the place of a row of `ssb_messages` in its feed, if the feed has a usable message."""
    author, message_id = message["author"], message["message_id"]
    feed = tables.row(_SQL["feed"], author=author)
    following = tables.row(_SQL["feed_next"], author=author)
    if feed is None:
        return None
    answer = {**feed, "in_chain": False, **dict.fromkeys(("reason", "meaning", "follows")), "followed_by": []}
    answer |= {"beside": [], "next": following}
    if not message["is_usable"]:
        return answer
    alike = tables.rows(_SQL["feed_at"], author=author, sequence=message["sequence"])
    own = next((row for row in alike if row["message_id"] == message_id), {"in_chain": False, "reason": None})
    reasons = ["off_chain"] if is_chain_whole(feed) else ["forked", "bad_link"]
    where = {"author": author, "sequence": feed["verified_length"] + 1, "reasons": reasons}
    return answer | {
        "in_chain": own["in_chain"],
        "reason": own["reason"],
        "meaning": messages.feed(own["reason"]) if own["reason"] else None,
        "follows": message["previous_id"],
        "followed_by": tables.rows(_SQL["feed_followed_by"], author=author, id=message_id),
        "beside": [row for row in alike if row is not own],
        "broken_by": [] if own["in_chain"] else tables.rows(_SQL["feed_broken_by"], **where),
    }


def is_chain_whole(feed: dict) -> bool:
    """Whether the chain reaches the last sequence of the feed; the feed may still have messages beside the chain."""
    return feed["verified_length"] >= feed["max_sequence"]


def state(feed: dict) -> str:
    """Describe a row of `feeds`: the length of its chain, and the cause of the chain's end."""
    verified, most = feed["verified_length"], feed["max_sequence"]
    if feed["status"] == "complete":
        return f"the feed is complete: {quantity(verified, 'message{|s}')}"
    if feed["status"] == "gap":
        return f"the chain ends at {verified:,} of {most:,}: {feed['gap_sequence']:,} is missing"
    if feed["status"] == "forked":
        return f"the chain ends at {verified:,} of {most:,}: {feed['fork_sequence']:,} is forked"
    if is_chain_whole(feed):
        beside = feed["message_count"] - verified
        return f"its chain has all {verified:,} sequences; messages beside the chain: {beside:,}"
    return f"the chain ends at {verified:,} of {most:,}: {verified + 1:,} does not follow it"
