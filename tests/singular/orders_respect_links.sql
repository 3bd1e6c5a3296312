{{ config(meta={'group_versions': 'int_tangle_versions', 'group_key': 'root_id'}) }}

-- Whatever follows a message comes after it, in depth and in both causal orders.
with messages as (
    select
        tangle_name,
        root_id,
        message_id,
        is_member,
        depth,
        position,
        thread_position
    from {{ ref('tangle_messages') }}
    where {{ is_changed('root_id', ref('int_tangle_versions')) }}
)

select
    edges.tangle_name,
    edges.root_id,
    edges.message_id,
    edges.previous_id
from {{ ref('tangle_edges') }} as edges
inner join messages as later
    on
        edges.tangle_name = later.tangle_name
        and edges.root_id = later.root_id
        and edges.message_id = later.message_id
left join messages as earlier
    on
        edges.tangle_name = earlier.tangle_name
        and edges.root_id = earlier.root_id
        and edges.previous_id = earlier.message_id
        and earlier.is_member
where
    edges.is_member_edge
    and {{ is_changed('edges.root_id', ref('int_tangle_versions')) }}
    and (
        earlier.message_id is null
        or later.depth <= earlier.depth
        or later.position <= earlier.position
        or later.thread_position <= earlier.thread_position
    )
