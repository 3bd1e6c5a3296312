"""Findings in SSB logs: lines, signatures, colliding ids, feeds (the classic feed tangle), claims, and record fields.

The queries apply the rules of `ssb_messages`, `ssb_rejects`, `int_feed_links`, `int_feed_chain`, `feeds`,
`feed_messages`, `int_tangle_claims` and `group_messages` to the lines of some files.
"""

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from dbt_tangles.formats.ssb.options import hmac_key
from dbt_tangles.formats.ssb.verify_lines import VerifyOptions, verify_batches
from dbt_tangles.lint.line_table import store_lines
from dbt_tangles.lint.records import append_malformed_fields

#: The longest continuation of a forked feed's chain that is followed, as in int_feed_chain.sql.
LONGEST_WALK = 50_000

#: The columns that later queries need. A content is kept only if it is decrypted: copies may then differ.
_KEPT = """select source_file, line, line_digest, message_id, text_digest, check_error, detail, author,
    sequence::bigint as sequence, previous_id, is_decrypted, if(is_decrypted, content, null) as content,
    [claim for claim in claims if claim.defect is not null
        or (claim.root_id = message_id and not claim.is_root)
        or (claim.tangle_name = 'epoch' and content_type is distinct from 'group/init')
        or (claim.tangle_name = 'group' and claim.is_root and content_type is distinct from 'group/init')
    ] as bad_claims,
    group_claim.invalid_reason as group_error, malformed_fields from batch"""

_REJECTS = """insert into found
with collided as (
    select message_id, min(text_digest) as kept_digest from lines where check_error is null
    group by message_id having min(text_digest) <> max(text_digest)
)
select source_file, line, line_digest, check_error, detail, message_id, 1 from lines where check_error is not null
union all
select source_file, line, line_digest, 'id_collision', detail, message_id, 1 from lines
inner join collided using (message_id) where check_error is null and text_digest <> kept_digest"""

_MESSAGES = """create table messages as select * from lines where check_error is null
qualify row_number() over (
    partition by message_id order by text_digest, is_decrypted desc, content nulls first, source_file, line) = 1"""

_CLAIMS = """insert into found
select source_file, line, null, case
        when claim.root_id = message_id and not claim.is_root then 'malformed_tangle'
        else coalesce(claim.defect, 'wrong_type') end,
    'tangle ' || coalesce(claim.tangle_name, 'without a name'), message_id, 1
from (select *, unnest(bad_claims) as claim from messages)
union all
select source_file, line, null, group_error, null, message_id, 1 from messages where group_error is not null
union all
select source_file, line, null, 'malformed_field', unnest(malformed_fields), message_id, 1 from messages"""

_LINKS = """create table links as select messages.*,
    (messages.sequence = 1 and messages.previous_id is null) or parents.message_id is not null as is_linked
from messages left join messages as parents
    on messages.previous_id = parents.message_id and messages.author = parents.author
    and messages.sequence > 1 and messages.sequence - 1 = parents.sequence"""

_PREFIXES = """create table prefixed as
with sequences as (
    select author, sequence, count(*) as candidate_count, min(message_id) as message_id,
        min(previous_id) as previous_id
    from links where is_linked group by author, sequence
),
numbered as (
    select *, row_number() over feed as step_number, lag(message_id) over feed as message_before
    from sequences window feed as (partition by author order by sequence)
)
select author, sequence, message_id, candidate_count, bool_and(
    candidate_count = 1 and sequence = step_number and previous_id is not distinct from message_before
) over (partition by author order by sequence) as is_in_prefix from numbered;
create table chain as select author, sequence, message_id from prefixed where is_in_prefix"""

_WALKABLE = """select author, max(sequence) filter (where is_in_prefix) as length,
    max_by(message_id, sequence) filter (where is_in_prefix) as tip
from prefixed group by author
having max(candidate_count) filter (where not is_in_prefix) > 1 and length is not null"""

_FEEDS = """create table feeds as
with chains as (
    select author, max(sequence) as verified_length, max_by(message_id, sequence) as tip from chain group by author
),
counts as (
    select links.author, count(*) as message_count, max(sequence) as max_sequence,
        coalesce(any_value(verified_length), 0) as verified_length, any_value(tip) as tip
    from links left join chains on links.author = chains.author group by links.author
),
ends as (
    select counts.author, count(*) filter (where is_linked and previous_id is not distinct from tip) as successors
    from counts inner join links
        on counts.author = links.author and links.sequence = counts.verified_length + 1
    group by counts.author
)
select counts.*, case
    when verified_length = message_count then 'complete'
    when verified_length > 0 and verified_length >= max_sequence then 'bad_link'
    when ends.author is null then 'gap'
    when successors > 1 then 'forked' else 'bad_link' end as status
from counts left join ends on counts.author = ends.author"""

_OUTSIDE = """create table outside as
select links.*, verified_length, status, case
    when links.sequence <= verified_length then 'off_chain'
    when links.sequence > verified_length + 1 then 'after_' || status
    when is_linked and previous_id is not distinct from tip then 'forked' else 'bad_link' end as reason
from links inner join feeds on links.author = feeds.author
where links.message_id not in (select message_id from chain)"""

# One finding stands for all messages after the first break of a feed.
_FEED_FINDINGS = """insert into found
select source_file, line, null, reason, 'message ' || sequence || ' of feed ' || author, message_id, 1
from outside where reason not like 'after@_%' escape '@'
union all
select source_file, line, null, reason, 'feed ' || author || ' is verified up to sequence ' || verified_length || '; '
    || later || if(later = 1, ' message comes', ' messages come') || ' after sequence ' || (verified_length + 1),
    message_id, later
from (select *, count(*) over (partition by author) as later from outside where reason like 'after@_%' escape '@')
qualify row_number() over (partition by author order by sequence, message_id) = 1"""


def check_lines(database: duckdb.DuckDBPyConnection, batches: Iterator[pa.RecordBatch]) -> int:
    """Verify the lines of SSB logs, and write the findings into the table `found`.

    Args:
        database: Holds the table `found`; see `findings`. The check adds tables of its own.
        batches: The lines, as `log_files.read_lines` streams them.

    Returns:
        The number of lines.

    Raises:
        ValueError: The network key in the environment is not valid.
    """
    verified = append_malformed_fields(verify_batches(batches, VerifyOptions(hmac_key=hmac_key())))
    count = store_lines(database, verified, _KEPT)
    if count:
        for query in (_REJECTS, _MESSAGES, _CLAIMS, _LINKS, _PREFIXES):
            database.execute(query)
        _continue_forked_chains(database)
        for query in (_FEEDS, _OUTSIDE, _FEED_FINDINGS):
            database.execute(query)
    return count


def _continue_forked_chains(database: duckdb.DuckDBPyConnection) -> None:
    """Follow the links behind a prefix where only one of several candidates continues it."""
    for author, length, tip in database.execute(_WALKABLE).fetchall():
        rows = database.execute(
            """select sequence, previous_id, message_id from links where is_linked and author = $author
            and sequence > $length and sequence <= $length + $most order by sequence""",
            {"author": author, "length": length, "most": LONGEST_WALK},
        ).fetchall()
        children: dict[int, list[tuple[str, str]]] = {}
        for sequence, previous, message in rows:
            children.setdefault(sequence, []).append((previous, message))
        # As in the model, a chain continues only if several candidates stand directly behind its prefix.
        if len(children.get(length + 1, ())) < 2:
            continue
        chain = []
        while len(next_ones := [m for p, m in children.get(length + 1, ()) if p == tip]) == 1:
            length, tip = length + 1, next_ones[0]
            chain.append((author, length, tip))
        if chain:
            database.executemany("insert into chain values (?, ?, ?)", chain)
