-- found: The table of findings.
create table found (
    source_file varchar, line bigint, line_digest blob, reason varchar, detail varchar, id varchar, line_count bigint
)
-- merged: The findings by file and line; those of more than $most equal lines are one.
with numbered as (
    select found.*, row_number() over (partition by source_file, reason, line_digest order by line) as number,
        count(*) over (partition by source_file, reason, line_digest) + coalesce(copies, 0) as equal_lines
    from found left join left_out using (source_file, line_digest)
)
select source_file, line, reason, detail, id,
    if(line_digest is not null and equal_lines > $most, equal_lines, line_count) as line_count
from numbered where line_digest is null or equal_lines <= $most or number = 1
order by source_file, line, reason, detail nulls first, id nulls first
-- ssb_lines: The columns of a line that later queries need; a content is kept only if it is decrypted: copies may then differ.
select source_file, line, line_digest, message_id, text_digest, check_error, detail, author,
    sequence::bigint as sequence, previous_id, is_decrypted, if(is_decrypted, content, null) as content,
    [claim for claim in claims if claim.defect is not null
        or (claim.root_id = message_id and not claim.is_root)
        or (claim.tangle_name = 'epoch' and content_type is distinct from 'group/init')
        or (claim.tangle_name = 'group' and claim.is_root and content_type is distinct from 'group/init')
    ] as bad_claims,
    group_claim.invalid_reason as group_error, malformed_fields from batch
-- ssb_rejects: Lines that break a rule, and messages whose id is that of another text.
insert into found
with collided as (
    select message_id, min(text_digest) as kept_digest from lines where check_error is null
    group by message_id having min(text_digest) <> max(text_digest)
)
select source_file, line, line_digest, check_error, detail, message_id, 1 from lines where check_error is not null
union all
select source_file, line, line_digest, 'id_collision', detail, message_id, 1 from lines
inner join collided using (message_id) where check_error is null and text_digest <> kept_digest
-- ssb_messages: One line of each message.
create table messages as select * from lines where check_error is null
qualify row_number() over (
    partition by message_id order by text_digest, is_decrypted desc, content nulls first, source_file, line) = 1
-- ssb_claims: Malformed claims of tangles and groups, and malformed fields of records.
insert into found
select source_file, line, null, case
        when claim.root_id = message_id and not claim.is_root then 'malformed_tangle'
        else coalesce(claim.defect, 'wrong_type') end,
    'tangle ' || coalesce(claim.tangle_name, 'without a name'), message_id, 1
from (select *, unnest(bad_claims) as claim from messages)
union all
select source_file, line, null, group_error, null, message_id, 1 from messages where group_error is not null
union all
select source_file, line, null, 'malformed_field', unnest(malformed_fields), message_id, 1 from messages
-- ssb_links: The links of feeds.
select author, sequence, message_id, previous_id from messages order by author, sequence
-- ssb_feeds: The feeds, with the ends of their chains.
create table feeds as
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
from counts left join ends on counts.author = ends.author
-- ssb_outside: The messages outside of their chain.
create table outside as
select messages.*, verified_length, status, case
    when messages.sequence <= verified_length then 'off_chain'
    when messages.sequence > verified_length + 1 then 'after_' || status
    when previous_id is not distinct from tip then 'forked' else 'bad_link' end as reason
from messages inner join feeds on messages.author = feeds.author
where messages.message_id not in (select message_id from chain)
-- ssb_off_chain: Findings about these; one stands for all messages after the first break of a feed.
insert into found
select source_file, line, null, reason, 'message ' || sequence || ' of feed ' || author, message_id, 1
from outside where reason not like 'after@_%' escape '@'
union all
select source_file, line, null, reason, 'feed ' || author || ' is verified up to sequence ' || verified_length || '; '
    || later || if(later = 1, ' message comes', ' messages come') || ' after sequence ' || (verified_length + 1),
    message_id, later
from (select *, count(*) over (partition by author) as later from outside where reason like 'after@_%' escape '@')
qualify row_number() over (partition by author order by sequence, message_id) = 1
-- pzp_lines: The rejected lines.
select source_file, line, line_digest, reject_reason, detail, message_id, 1 as line_count
from batch where reject_reason is not null
-- autobase_lines: The lines with the ids of their nodes.
select *, writer || ':' || length as node_id from batch
-- autobase_bases: One statement of each base.
create table bases as select base_id, indexers, relayed, start
from lines where kind = 'base' and reject_reason is null
qualify row_number() over (
    partition by base_id order by indexers nulls first, relayed nulls first, start nulls first) = 1
-- autobase_starts: The length at which the log of each writer starts.
create table starts as
with stated as (
    select base_id, entry.writer as writer, entry.length as start_length
    from (select base_id, unnest(start) as entry from bases)
)
from stated
union all
select base_id, lines.writer, if(any_value(bases.start) is null, 0, min(lines.length) - 1)
from lines inner join bases using (base_id)
where kind = 'node' and reject_reason is null
    and struct_pack(a := base_id, b := lines.writer) not in (select struct_pack(a := base_id, b := writer) from stated)
group by base_id, lines.writer
-- autobase_nodes: The nodes, with the defects of their logs.
create table nodes as
with versions as (
    select base_id, writer, length, heads, batch, row_number() over (
        partition by base_id, writer, length
        order by heads nulls first, batch nulls first, value nulls first, is_ack nulls first) as version
    from lines where kind = 'node' and reject_reason is null
    group by base_id, writer, length, heads, batch, value, is_ack
),
nodes as (
    select base_id, writer, length, count(*) > 1 as is_equivocation,
        min_by(heads, version) as heads, min_by(batch, version) as batch
    from versions group by base_id, writer, length
),
placed as (
    select nodes.*, bases.base_id is not null as has_base, coalesce(start_length, 0) as start_length,
        lag(length) over log as length_before, lag(batch) over log as batch_before
    from nodes left join bases on nodes.base_id = bases.base_id
    left join starts on nodes.base_id = starts.base_id and nodes.writer = starts.writer
    window log as (partition by nodes.base_id, nodes.writer order by length)
)
select base_id, writer || ':' || length as node_id, writer, length, heads, batch, start_length, case
    when not has_base then 'unknown_base'
    when length <= start_length then 'before_start'
    when is_equivocation then 'equivocation'
    when length - 1 > start_length and length_before is distinct from length - 1 then 'hole'
    when length - 1 > start_length and batch_before > 1 and batch <> batch_before - 1 then 'bad_batch' end as defect
from placed
-- autobase_candidates: The graph of each base; as in the model, the root '' stands for everything before the log.
with links as (
    select base_id, node_id, head.writer as writer, head.length as length
    from (select base_id, node_id, unnest(heads) as head from nodes)
),
followed as (
    select links.base_id, links.node_id, list(links.writer || ':' || links.length) as previous,
        bool_or(coalesce(nodes.batch > 1, false)) as splits_batch
    from links left join nodes on links.base_id = nodes.base_id and links.writer = nodes.writer
        and links.length = nodes.length
    left join starts on links.base_id = starts.base_id and links.writer = starts.writer
    where links.length > coalesce(starts.start_length, 0) group by links.base_id, links.node_id
)
select 'autobase' as graph_kind, nodes.base_id as graph_id, nodes.node_id, list_distinct(list_concat(
        [if(length - 1 > start_length, writer || ':' || (length - 1), '')], previous)) as previous,
    false as is_root, coalesce(defect, if(splits_batch, 'bad_batch', null)) as claim_error,
    null::double as asserted_ms, null::double as received_ms
from nodes left join followed on nodes.base_id = followed.base_id and nodes.node_id = followed.node_id
union all
select 'autobase', base_id, '', []::varchar[], true, null, null, null from bases
-- autobase_set_aside: The nodes that the walk of their base sets aside.
create table set_aside as
with followed as (
    select graph_id, node_id, unnest(previous) as id from walked where set_aside_reason = 'missing_previous'
),
missing as (
    select followed.graph_id, followed.node_id, bool_or(nodes.node_id is null) as has_missing_head,
        bool_or(nodes.node_id is null and starts.writer is null) as has_unknown_writer
    from followed
    left join nodes on followed.graph_id = nodes.base_id and followed.id = nodes.node_id
    left join starts on followed.graph_id = starts.base_id and split_part(followed.id, ':', 1) = starts.writer
    where followed.id <> '' group by followed.graph_id, followed.node_id
)
select walked.graph_id as base_id, walked.node_id, case
    when has_unknown_writer then 'unknown_writer'
    when has_missing_head then 'missing_head'
    when set_aside_reason = 'missing_previous' then 'previous_set_aside' else set_aside_reason end as reason
from walked left join missing on walked.graph_id = missing.graph_id and walked.node_id = missing.node_id
where set_aside_reason is not null
-- autobase_findings: Lines that break a rule, nodes that are set aside, and conflicting bases.
insert into found
select source_file, line, line_digest, reject_reason, detail, node_id, 1 from lines where reject_reason is not null
union all
select source_file, line, line_digest, reason, null, lines.node_id, 1
from lines inner join set_aside on lines.base_id = set_aside.base_id and lines.node_id = set_aside.node_id
where reject_reason is null and kind = 'node'
union all
select source_file, line, line_digest, 'conflicting_base', 'another line says something else about this base', null, 1
from lines inner join bases on lines.base_id = bases.base_id
where reject_reason is null and kind = 'base'
    and struct_pack(a := lines.indexers, b := lines.relayed, c := lines.start)
    is distinct from struct_pack(a := bases.indexers, b := bases.relayed, c := bases.start)
-- events_lines: The lines.
select * from batch
-- events_rejects: Lines that break a rule.
insert into found
select source_file, line, line_digest, reject_reason, detail, event_id, 1 from lines where reject_reason is not null
-- events_arrivals: The arrivals of events.
select timeline_id, event_id, causes, null::varchar[] as cause_kinds,
    null::varchar[] as left_out_causes, author, arrival, null::double as received_ms, null::varchar as refusal,
    source_file, line
from lines where reject_reason is null
-- events_placed: Arrivals that their timeline refuses.
insert into found
select source_file, line, line_digest, placed.reason,
    case placed.reason
        when 'conflict' then 'other lines give the event other causes or another author'
        when 'duplicate' then 'the event arrived before'
        else 'the event would follow itself'
    end, event_id, 1
from placed inner join lines using (source_file, line, event_id) where placed.reason is not null
