with members as (
    select
        tangle_name,
        root_id,
        message_id,
        author,
        sequence,
        depth,
        if(is_root, cast(array() as array<string>), array_distinct(previous)) as previous
    from {{ ref('int_tangle_levels') }}
    where set_aside_reason is null and {{ has_sql_rounds() }}
),

tangles as (
    select
        tangle_name,
        root_id,
        count(*) as member_count,
        count(distinct if(sequence is null, null, author)) as author_count
    from members
    group by tangle_name, root_id
    having {{ is_within_sql_rounds('max(depth)') }}
),

edges as (
    select
        members.tangle_name,
        members.root_id,
        members.message_id,
        members.depth,
        tangles.member_count <= {{ var('ancestor_limit') }} as has_pairs,
        edge.previous_id
    from members
    inner join tangles on members.tangle_name = tangles.tangle_name and members.root_id = tangles.root_id
        lateral view explode(members.previous) edge as previous_id
    where
        tangles.member_count <= {{ var('ancestor_limit') }}
        or tangles.member_count * tangles.author_count <= {{ var('clock_limit') }}
)

select
    edges.tangle_name,
    edges.root_id,
    edges.message_id,
    edges.depth,
    edges.has_pairs,
    edges.previous_id,
    -- Half an entry of a clock is none.
    if(previous.sequence is null, null, previous.author) as previous_author,
    if(previous.author is null, null, previous.sequence) as previous_sequence
from edges
inner join members as previous
    on
        edges.tangle_name = previous.tangle_name
        and edges.root_id = previous.root_id
        and edges.previous_id = previous.message_id
