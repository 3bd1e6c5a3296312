"""`tangles why` for a feed: how far it is verified, the reason why its chain ends there, and what to do."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.page import BAD, DIM, GOOD, ID, Page, quantity
from dbt_tangles.cli.tables import Tables

_MOST = 100
_SHOWN = 10
#: Status of a feed: the remedy; `{missing}` is the sequence behind the chain.
_REMEDIES = {
    "gap": "get message {missing} from a peer",
    "forked": "the author must start a new feed, because peers stop at the fork",
    "bad_link": "get the message before it from a peer; if no peer has it, the author must start a new feed",
}


def explain(tables: Tables, author: str) -> dict:
    """Collect the rows about the feed of an author of `feeds`."""
    feed = tables.row(
        """select author, message_count, max_sequence, verified_length, fork_sequence, gap_sequence, status,
            latest_message_id from {feeds} where author = $author""",
        author=author,
    )
    outside = tables.rows(
        f"""select message_id, sequence, reason from {{feed_messages}}
        where author = $author and not in_chain order by sequence, message_id limit {_MOST}""",
        author=author,
    )
    counts = tables.rows(
        """select reason, count(*) as n, min(sequence) as first from {feed_messages}
        where author = $author and not in_chain group by reason order by first, reason""",
        author=author,
    )
    next_one = tables.row("select sequence, previous_id, status from {feed_next} where author = $author", author=author)
    return {
        "kind": "feed",
        "id": author,
        "feed": feed,
        "outside_counts": {row["reason"]: row["n"] for row in counts},
        "outside": [row | {"meaning": messages.OFF_CHAIN.get(row["reason"], "")} for row in outside],
        "next": next_one,
        "is_well": bool(feed) and feed["status"] == "complete",
    }


def write(page: Page, answer: dict) -> None:
    """Print the answer."""
    feed = answer["feed"]
    page.line((answer["id"], ID))
    style = GOOD if answer["is_well"] else BAD
    page.line(
        "feed: ",
        (feed["status"], style),
        f", {quantity(feed['message_count'], 'message{|s}')} up to sequence {feed['max_sequence']:,}, "
        f"verified up to {feed['verified_length']:,}",
        indent=1,
    )
    if feed["latest_message_id"]:
        page.line("last verified message: ", (feed["latest_message_id"], ID), indent=1)
    for reason, count in answer["outside_counts"].items():
        meaning = messages.OFF_CHAIN.get(reason, "")
        page.line((reason, BAD), f": {quantity(count, 'message{|s}')}. {meaning}", indent=1)
    for row in answer["outside"][:_SHOWN]:
        page.line((row["message_id"], ID), f" {row['reason']}, sequence {row['sequence']:,}", indent=2)
    if sum(answer["outside_counts"].values()) > _SHOWN:
        page.line(("… (--json lists more)", DIM), indent=2)
    if remedy := _REMEDIES.get(feed["status"]):
        page.line("what to do: " + remedy.format(missing=f"{feed['verified_length'] + 1:,}"), indent=1)
    if answer["next"]:
        previous = answer["next"]["previous_id"]
        words = f"next message of the feed: sequence {answer['next']['sequence']:,}, previous "
        page.line(words, (previous or "null", ID), indent=1)
