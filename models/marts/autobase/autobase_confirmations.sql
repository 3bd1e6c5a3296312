{{ config(enabled=has_log('autobase_log')) }}

with settled as (
    select
        followed.base_id,
        followed.observer,
        settled_now.node_id,
        followed.node_id as confirmed_by,
        settled_now.contender,
        nodes.depth,
        nodes.writer,
        nodes.length
    from {{ ref('int_autobase_results') }} as followed
    inner join {{ ref('int_autobase_members') }} as nodes
        on followed.base_id = nodes.base_id and followed.node_id = nodes.node_id
        lateral view explode(followed.settled) exploded as settled_now
    where followed.row_kind = 'change'
),

-- The first node of any writer at which the order is settled.
first_settled as (
    select
        base_id,
        node_id,
        min_by(struct(confirmed_by, contender), struct(depth, writer, length)) as first_time
    from settled
    group by base_id, node_id
)

select
    base_id,
    observer,
    node_id,
    confirmed_by,
    contender
from settled

union all

select
    seen.base_id,
    'all' as observer,
    seen.node_id,
    first_settled.first_time.confirmed_by,
    first_settled.first_time.contender
from {{ ref('int_autobase_results') }} as seen
left join first_settled on seen.base_id = first_settled.base_id and seen.node_id = first_settled.node_id
where seen.row_kind = 'view' and seen.observer = 'all' and seen.is_confirmed
