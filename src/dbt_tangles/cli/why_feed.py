"""A message's place in its author's feed, and what ends the chain before it."""

from __future__ import annotations

from dbt_tangles.cli import messages
from dbt_tangles.cli.page import BAD, GOOD, ID, Page, counted
from dbt_tangles.cli.tables import Tables

_MOST = 100


def explain_feed(tables: Tables, message: dict) -> dict | None:
    """Say where a message of `ssb_messages` is in its feed; None where the feed has no usable message."""
    author, sequence = message["author"], message["sequence"]
    feed = tables.row(
        """select author, message_count, max_sequence, verified_length, fork_sequence, gap_sequence, status,
            latest_message_id from {feeds} where author = $author""",
        author=author,
    )
    next_one = tables.row("select sequence, previous_id, status from {feed_next} where author = $author", author=author)
    if feed is None:
        return None
    answer = {
        **feed,
        "in_chain": False,
        "reason": None,
        "meaning": None,
        "follows": None,
        "followed_by": [],
        "beside": [],
    }
    answer["next"] = next_one
    if not message["is_usable"]:
        return answer
    answer["follows"] = message["previous_id"]
    near = tables.rows(
        f"""select message_id, sequence, in_chain, reason from {{feed_messages}}
        where author = $author and sequence between $sequence and $sequence::bigint + 1
        order by sequence, message_id limit {_MOST}""",
        author=author,
        sequence=sequence,
    )
    for row in near:
        if row["message_id"] == message["message_id"]:
            answer["in_chain"], answer["reason"] = row["in_chain"], row["reason"]
        elif row["sequence"] == sequence:
            answer["beside"].append(row)
        else:
            answer["followed_by"].append(row)
    reason = answer["reason"]
    answer["meaning"] = messages.OFF_CHAIN.get(reason) if reason else None
    answer["broken_by"] = [] if answer["in_chain"] else _broken_by(tables, feed)
    return answer


def _broken_by(tables: Tables, feed: dict) -> list[dict]:
    """List the messages that fork the chain or do not follow it: next to its end, or beside it where it has no end."""
    reasons = ["off_chain"] if _is_chain_whole(feed) else ["forked", "bad_link"]
    return tables.rows(
        f"""select message_id, sequence, reason from {{feed_messages}}
        where author = $author and sequence <= $sequence and reason in (select unnest($reasons))
        order by sequence, message_id limit {_MOST}""",
        author=feed["author"],
        sequence=feed["verified_length"] + 1,
        reasons=reasons,
    )


def _is_chain_whole(feed: dict) -> bool:
    """Whether the chain reaches the last sequence of the feed; then more messages may be beside it."""
    return feed["verified_length"] >= feed["max_sequence"]


def write_feed(page: Page, feed: dict | None) -> None:
    """Show the place in the feed."""
    if feed is None:
        page.line("feed: none, as the author has no usable message here", indent=1)
        return
    if feed["follows"] is None and feed["reason"] is None and not feed["in_chain"]:
        page.line(f"feed: it does not count there; {state(feed)}", indent=1)
        return
    if feed["in_chain"]:
        page.line("feed: ", ("in the chain", GOOD), f"; {state(feed)}", indent=1)
    else:
        page.line("feed: ", ("not in the chain", BAD), f": {feed['reason']}, {feed['meaning']}", indent=1)
        page.line(state(feed), indent=2)
        if feed["latest_message_id"]:
            page.line("the chain ends with ", (feed["latest_message_id"], ID), indent=2)
        page.ids("messages that break it:", [row["message_id"] for row in feed["broken_by"]], indent=2)
    page.ids("beside it, of the same sequence:", [row["message_id"] for row in feed["beside"]], indent=2)
    if feed["follows"]:
        page.line("follows ", (feed["follows"], ID), indent=2)
    page.ids("followed by", [row["message_id"] for row in feed["followed_by"]], indent=2)


def state(feed: dict) -> str:
    """Say how far a feed is whole, and what ends it; a row of `feeds`."""
    verified, most = feed["verified_length"], feed["max_sequence"]
    if feed["status"] == "complete":
        return f"the feed is whole: {counted(verified, 'message{|s}')}"
    if feed["status"] == "gap":
        return f"the feed is whole up to {verified:,} of {most:,}: {feed['gap_sequence']:,} is missing"
    if feed["status"] == "forked":
        return f"the feed is whole up to {verified:,} of {most:,}: {feed['fork_sequence']:,} is forked"
    if _is_chain_whole(feed):
        beside = feed["message_count"] - verified
        return f"its chain has all {verified:,} sequences; messages beside the chain: {beside:,}"
    return f"the feed is whole up to {verified:,} of {most:,}: {verified + 1:,} does not follow it"


def write_next(page: Page, feed: dict) -> None:
    """Show what the next message of the feed carries."""
    if not feed["next"]:
        page.line("the author cannot publish in this feed any more: peers would not take it", indent=1)
        return
    after = feed["next"]["previous_id"]
    page.line(
        f"the author's next message has sequence {feed['next']['sequence']:,}",
        *([", previous ", (after, ID)] if after else []),
        indent=1,
    )
    if not _is_chain_whole(feed):
        page.line("which a replica waits for; its author has written it already", indent=2)
