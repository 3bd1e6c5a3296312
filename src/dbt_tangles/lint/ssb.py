"""Findings in SSB logs: lines, signatures, colliding ids, feeds (the classic feed tangle), claims, and record fields.

The queries apply the rules of `ssb_messages`, `ssb_rejects`, `feeds`, `feed_messages`, `int_tangle_claims` and
`group_messages` to the lines of some files. The chains of feeds come from the kernel of `int_feed_chain`.
"""

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from dbt_tangles.algorithms.feed.chains import Link, chain_batches
from dbt_tangles.formats.ssb.options import hmac_key
from dbt_tangles.formats.ssb.verify_lines import VerifyOptions, verify_batches
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH
from dbt_tangles.lint.line_table import store_lines
from dbt_tangles.lint.records import append_malformed_fields

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

_LINKS = "select author, sequence, message_id, previous_id from messages order by author, sequence"

_FEEDS = """create table feeds as
with chains as (
    select author, max(sequence) as verified_length, max_by(message_id, sequence) as tip from chain group by author
),
counts as (
    select messages.author, count(*) as message_count, max(sequence) as max_sequence,
        coalesce(any_value(verified_length), 0) as verified_length, any_value(tip) as tip
    from messages left join chains on messages.author = chains.author group by messages.author
),
ends as (
    select counts.author, count(*) filter (where previous_id is not distinct from tip) as successors
    from counts inner join messages
        on counts.author = messages.author and messages.sequence = counts.verified_length + 1
    group by counts.author
)
select counts.*, case
    when verified_length = message_count then 'complete'
    when verified_length > 0 and verified_length >= max_sequence then 'bad_link'
    when ends.author is null then 'gap'
    when successors > 1 then 'forked' else 'bad_link' end as status
from counts left join ends on counts.author = ends.author"""

_OUTSIDE = """create table outside as
select messages.*, verified_length, status, case
    when messages.sequence <= verified_length then 'off_chain'
    when messages.sequence > verified_length + 1 then 'after_' || status
    when previous_id is not distinct from tip then 'forked' else 'bad_link' end as reason
from messages inner join feeds on messages.author = feeds.author
where messages.message_id not in (select message_id from chain)"""

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
        for query in (_REJECTS, _MESSAGES, _CLAIMS):
            database.execute(query)
        _store_chains(database)
        for query in (_FEEDS, _OUTSIDE, _FEED_FINDINGS):
            database.execute(query)
    return count


def _store_chains(database: duckdb.DuckDBPyConnection) -> None:
    """Write the chains of all feeds into the table `chain`."""
    database.execute("create table chain (author varchar, sequence bigint, message_id varchar)")
    for batch in chain_batches(_read_links(database.cursor().execute(_LINKS))):
        database.register("batch", pa.Table.from_batches([batch]))
        database.execute("insert into chain select * from batch")


def _read_links(cursor: duckdb.DuckDBPyConnection) -> Iterator[Link]:
    while rows := cursor.fetchmany(ROWS_PER_BATCH):
        yield from map(Link._make, rows)
