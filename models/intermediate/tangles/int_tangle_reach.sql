{{ config(enabled=has_log('ssb_log')) }}

with members as (
    select
        depths.tangle_name,
        depths.root_id,
        depths.message_id,
        depths.depth,
        settled.member_count,
        candidates.author,
        candidates.sequence
    from {{ ref('int_tangle_depths') }} as depths
    inner join {{ ref('int_tangle_settled') }} as settled
        on depths.tangle_name = settled.tangle_name and depths.root_id = settled.root_id
    inner join {{ ref('int_tangle_candidates') }} as candidates
        on
            depths.tangle_name = candidates.tangle_name
            and depths.root_id = candidates.root_id
            and depths.message_id = candidates.message_id
    where settled.member_count > 1
),

author_counts as (
    select
        tangle_name,
        root_id,
        count(distinct if(sequence is null, null, author)) as author_count
    from members
    where member_count > {{ var('ancestor_limit') }}
    group by tangle_name, root_id
)

select
    members.tangle_name,
    members.root_id,
    members.message_id,
    members.depth,
    members.member_count <= {{ var('ancestor_limit') }} as has_pairs,
    edges.previous_id,
    -- A clock entry needs an author and a sequence.
    if(previous.sequence is null, null, previous.author) as previous_author,
    if(previous.author is null, null, previous.sequence) as previous_sequence
from {{ ref('int_tangle_edges') }} as edges
inner join members
    on
        edges.tangle_name = members.tangle_name
        and edges.root_id = members.root_id
        and edges.message_id = members.message_id
inner join members as previous
    on
        edges.tangle_name = previous.tangle_name
        and edges.root_id = previous.root_id
        and edges.previous_id = previous.message_id
left join author_counts
    on members.tangle_name = author_counts.tangle_name and members.root_id = author_counts.root_id
where
    members.member_count <= {{ var('ancestor_limit') }}
    or members.member_count * author_counts.author_count <= {{ var('clock_limit') }}
