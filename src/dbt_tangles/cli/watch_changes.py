"""The changes of verdicts between two states of a warehouse, in words."""

from typing import NamedTuple

from dbt_tangles.cli.page import inflect
from dbt_tangles.cli.tables import Pair, Tables

#: Entries of each kind that are listed.
SHOWN = 10


class Kind(NamedTuple):
    """One kind of change.

    Attributes:
        name: Its name in JSON.
        words: Its words for a number `{n}`, see `page.inflect`.
        entry: The line of one row.
        sql: The query of its rows; `{a__T}` is a table T before the build, `{b__T}` after it.
    """

    name: str
    words: str
    entry: str
    sql: str


_CHANGED_ROOTS = """
    root_id in (
        select group_key from {b__int_tangle_versions} as after left join {a__int_tangle_versions} as before
            using (group_key)
        where after.version is distinct from before.version
    )"""
_MEMBERS = f"""
    select after.tangle_name, after.root_id, after.message_id, after.set_aside_reason as reason
    from {{b__tangle_messages}} as after left join {{a__tangle_messages}} as before
        using (tangle_name, root_id, message_id)
    where {_CHANGED_ROOTS} and """
_LOG = "{tangle_name}:{root_id}: {message_id}"
KINDS = (
    Kind(
        "messages",
        "{n} new message{|s} of SSB",
        "",
        """
        select after.message_id
        from {b__feed_messages} as after anti join {a__feed_messages} as before using (message_id)""",
    ),
    Kind("members", "{n} new member{|s} of tangles", _LOG, _MEMBERS + "after.is_member and before.message_id is null"),
    Kind(
        "unblocked",
        "{n} message{ was|s were} set aside before and {is a member|are members} now",
        _LOG,
        _MEMBERS + "after.is_member and not before.is_member",
    ),
    Kind(
        "set_aside",
        "{n} message{|s} newly set aside",
        _LOG + ": {reason}",
        _MEMBERS + "not after.is_member and coalesce(before.is_member, true)",
    ),
    Kind(
        "forks",
        "{n} feed{ has|s have} forked",
        "{author} at sequence {sequence}",
        """
        select author, after.fork_sequence as sequence
        from {b__feeds} as after left join {a__feeds} as before using (author)
        where after.fork_sequence is distinct from before.fork_sequence and after.fork_sequence is not null""",
    ),
    Kind(
        "reordered",
        "{n} timeline{ has|s have} events in other places",
        "{timeline_id}: {moved} moved",
        """
        select timeline_id, count(*) as moved from {b__timeline_updates}
        where op = 'mov' and previous_publication is not null
            and publication not in (select publication from {a__timeline_stats})
        group by timeline_id""",
    ),
    Kind(
        "items",
        "{n} item{|s} of sets added or removed",
        "{set_id}: {item} {verb}",
        """
        select after.set_id, after.item, 'added' as verb
        from {b__set_items} as after anti join {a__set_items} as before using (set_id, item)
        union all
        select before.set_id, before.item, 'removed' as verb
        from {a__set_items} as before anti join {b__set_items} as after using (set_id, item)""",
    ),
    Kind(
        "settled",
        "{n} base{ has|s have} settled further",
        "{base_id}: {old} to {new} nodes",
        """
        select base_id, coalesce(before.confirmed_length, 0) as old, after.confirmed_length as new
        from {b__autobase_bases} as after left join {a__autobase_bases} as before using (base_id)
        where after.confirmed_length > coalesce(before.confirmed_length, 0)""",
    ),
    *(
        Kind(
            f"{name}_rejects",
            f"{{n}} reason{{|s}} for newly rejected lines of {log}",
            "{reason}: {more} more",
            f"""
            select reason, after.n - coalesce(before.n, 0) as more
            from (select reason, count(*) as n from {{b__{name}_rejects}} group by reason) as after
            left join (select reason, count(*) as n from {{a__{name}_rejects}} group by reason) as before using (reason)
            where after.n > coalesce(before.n, 0)""",
        )
        for name, log in (("ssb", "SSB"), ("pzp", "pzp"), ("autobase", "Autobase"), ("timeline", "events"))
    ),
)
#: The tables that the queries read.
TABLES = (
    "int_tangle_versions",
    "tangle_messages",
    "feeds",
    "feed_messages",
    "timeline_updates",
    "timeline_stats",
    "set_items",
    "autobase_bases",
    "ssb_rejects",
    "pzp_rejects",
    "autobase_rejects",
    "timeline_rejects",
)


def find_changes(before: Tables, now: Tables) -> list[dict]:
    """List the kinds of changes with their numbers, the first entries of each in order.

    Returns:
        `kind`; `count`; `words`; `shown`, at most `SHOWN` lines.
    """
    pair, found = Pair(before, now), []
    for kind in KINDS:
        rows = pair.rows(
            f"with changes as ({kind.sql}) select *, count(*) over () as n_ from changes order by all limit {SHOWN}"
        )
        if rows:
            count = rows[0]["n_"]
            shown = [kind.entry.format_map(row) for row in rows] if kind.entry else []
            words = inflect(count, kind.words.replace("{n}", f"{count:,}"))
            found.append({"kind": kind.name, "count": count, "words": words, "shown": shown})
    return found
