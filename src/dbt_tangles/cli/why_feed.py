"""Explains the place of an SSB message in its author's feed, and the end of the feed's chain before it."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.page import BAD, GOOD, ID, Page, quantity
from dbt_tangles.cli.tables import Tables

_MOST = 100


def explain_feed(tables: Tables, message: dict) -> dict | None:
    """Collect the rows about the feed of a row of `ssb_messages`, if the feed has a usable message."""
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
    alike = tables.rows(
        f"""select message_id, sequence, in_chain, reason from {{feed_messages}}
        where author = $author and sequence = $sequence order by message_id limit {_MOST}""",
        author=author,
        sequence=sequence,
    )
    for row in alike:
        if row["message_id"] == message["message_id"]:
            answer["in_chain"], answer["reason"] = row["in_chain"], row["reason"]
        else:
            answer["beside"].append(row)
    answer["followed_by"] = _followed_by(tables, author, message["message_id"])
    reason = answer["reason"]
    answer["meaning"] = messages.OFF_CHAIN.get(reason) if reason else None
    answer["broken_by"] = [] if answer["in_chain"] else _broken_by(tables, feed)
    return answer


def _followed_by(tables: Tables, author: str, message_id: str) -> list[dict]:
    """List the feed's other messages that list a message as previous; after a fork, those of its branch alone."""
    return tables.rows(
        f"""select message_id, sequence, in_chain, reason from {{feed_messages}}
        where author = $author and message_id <> $id and message_id in (
            select message_id from {{ssb_messages}} where author = $author and previous_id = $id
        )
        order by sequence, message_id limit {_MOST}""",
        author=author,
        id=message_id,
    )


def _broken_by(tables: Tables, feed: dict) -> list[dict]:
    """List the messages that end the chain, or those beside a chain that reaches the feed's last sequence."""
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
    """Whether the chain reaches the last sequence of the feed; the feed may still have messages beside the chain."""
    return feed["verified_length"] >= feed["max_sequence"]


def write_feed(page: Page, feed: dict | None) -> None:
    """Print the place in the feed."""
    if feed is None:
        page.line("feed: it has none, because the log has no usable message of its author", indent=1)
        return
    if feed["follows"] is None and feed["reason"] is None and not feed["in_chain"]:
        page.line(f"feed: the message is not in it; {state(feed)}", indent=1)
        return
    if feed["in_chain"]:
        page.line("feed: ", ("in the chain", GOOD), f"; {state(feed)}", indent=1)
    else:
        page.line("feed: ", ("not in the chain", BAD), f": {feed['reason']}. {feed['meaning']}", indent=1)
        page.line(state(feed), indent=2)
        if feed["latest_message_id"]:
            page.line("last message of the chain: ", (feed["latest_message_id"], ID), indent=2)
        page.ids("messages that end the chain:", [row["message_id"] for row in feed["broken_by"]], indent=2)
    page.ids("other messages of the same sequence:", [row["message_id"] for row in feed["beside"]], indent=2)
    if feed["follows"]:
        page.line("follows ", (feed["follows"], ID), indent=2)
    page.ids("followed by", [row["message_id"] for row in feed["followed_by"]], indent=2)


def state(feed: dict) -> str:
    """Describe a row of `feeds`: the length of its chain, and the cause of the chain's end."""
    verified, most = feed["verified_length"], feed["max_sequence"]
    if feed["status"] == "complete":
        return f"the feed is complete: {quantity(verified, 'message{|s}')}"
    if feed["status"] == "gap":
        return f"the chain ends at {verified:,} of {most:,}: {feed['gap_sequence']:,} is missing"
    if feed["status"] == "forked":
        return f"the chain ends at {verified:,} of {most:,}: {feed['fork_sequence']:,} is forked"
    if _is_chain_whole(feed):
        beside = feed["message_count"] - verified
        return f"its chain has all {verified:,} sequences; messages beside the chain: {beside:,}"
    return f"the chain ends at {verified:,} of {most:,}: {verified + 1:,} does not follow it"


def write_next(page: Page, feed: dict) -> None:
    """Print the sequence and previous of the feed's next message."""
    if not feed["next"]:
        page.line("peers reject every further message of this feed", indent=1)
        return
    after = feed["next"]["previous_id"]
    page.line(
        f"next message of the feed: sequence {feed['next']['sequence']:,}",
        *([", previous ", (after, ID)] if after else []),
        indent=1,
    )
    if not _is_chain_whole(feed):
        page.line("its author has already published that message; get it from a peer", indent=2)
