with settled as (
    select
        followed.base_id,
        followed.observer,
        settled_now.node_id,
        followed.at_node as confirmed_at,
        settled_now.contender,
        nodes.depth,
        nodes.writer,
        nodes.length
    from {{ ref('int_autobase_changes') }} as followed
    inner join {{ ref('int_autobase_members') }} as nodes
        on followed.base_id = nodes.base_id and followed.at_node = nodes.node_id
        lateral view explode(followed.settled) exploded as settled_now
),

-- Where anybody could first know of it.
earliest as (
    select
        base_id,
        node_id,
        min_by(struct(confirmed_at, contender), struct(depth, writer, length)) as first_time
    from settled
    group by base_id, node_id
)

select
    base_id,
    observer,
    node_id,
    confirmed_at,
    contender
from settled

union all

select
    seen.base_id,
    'all' as observer,
    seen.node_id,
    earliest.first_time.confirmed_at,
    earliest.first_time.contender
from {{ ref('int_autobase_views') }} as seen
left join earliest on seen.base_id = earliest.base_id and seen.node_id = earliest.node_id
where seen.observer = 'all' and seen.is_confirmed
