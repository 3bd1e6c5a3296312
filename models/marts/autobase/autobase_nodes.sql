{{ config(enabled=has_log('autobase_log')) }}

with members as (
    select * from {{ ref('int_autobase_members') }}
),

clocks as (
    select
        base_id,
        node_id,
        writer,
        length
    from {{ ref('int_autobase_clocks') }}

    union all

    -- In its own writer's log a node has seen every node up to itself.
    select
        base_id,
        node_id,
        writer,
        length
    from members
),

clock_maps as (
    select
        base_id,
        node_id,
        map_from_entries(sort_array(collect_list(struct(writer, length)))) as clock
    from (
        select
            base_id,
            node_id,
            writer,
            max(length) as length
        from clocks
        group by base_id, node_id, writer
    ) as seen
    group by base_id, node_id
),

-- Bases beyond the limit have neither clocks nor votes.
sizes as (
    select
        base_id,
        count(*) * count(distinct writer) <= {{ var('base_clock_limit') }} as has_clocks
    from members
    group by base_id
),

-- The last node of an indexing writer has all references of that writer among its ancestors.
last_nodes as (
    select
        base_id,
        max_by(node_id, length) as node_id
    from members
    where role = 'indexing'
    group by base_id, writer
),

seen as (
    select
        clocks.base_id,
        clocks.writer,
        max(clocks.length) as length,
        clocks.node_id
    from clocks
    inner join last_nodes on clocks.base_id = last_nodes.base_id and clocks.node_id = last_nodes.node_id
    group by clocks.base_id, clocks.writer, clocks.node_id
),

votes as (
    select
        members.base_id,
        members.node_id,
        count(*) as votes
    from members
    inner join seen
        on members.base_id = seen.base_id and members.writer = seen.writer and members.length <= seen.length
    group by members.base_id, members.node_id
)

select
    members.base_id,
    members.node_id,
    members.writer,
    members.length,
    members.role,
    cast(members.batch as bigint) as batch,
    members.is_ack,
    members.depth,
    if(sizes.has_clocks, clock_maps.clock, null) as clock,
    members.child_count = 0 and not members.is_relayed as is_head,
    if(sizes.has_clocks, cast(coalesce(votes.votes, 0) as int), null) as votes
from members
inner join sizes on members.base_id = sizes.base_id
left join clock_maps on members.base_id = clock_maps.base_id and members.node_id = clock_maps.node_id
left join votes on members.base_id = votes.base_id and members.node_id = votes.node_id
