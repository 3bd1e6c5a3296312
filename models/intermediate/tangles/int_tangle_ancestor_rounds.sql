{{ config(
    enabled=has_log('ssb_log'),
    materialized='fixpoint',
    meta={
        'result_columns': ['tangle_name', 'root_id', 'message_id', 'ancestor_id', 'distance'],
        'first_round': 1,
        'rounds': 500 if var('tangle_engine') == 'auto' else none,
        'words': {'round': 'depth', 'rows': 'pairs'}
    }
) }}

-- Base: the members at depth 1 list the root.
select
    tangle_name,
    root_id,
    message_id,
    depth,
    previous_id as ancestor_id,
    1 as distance,
    true as is_settled
from {{ waiting(ref('int_tangle_reach')) }}
where depth = 1
{{ next_query() }}
-- Step: the members of this round's depth list their previous, and those of the last round pass on their ancestors. An
-- ancestor that reaches a member early waits until the round of the member's depth.
with pairs as (
    select
        tangle_name,
        root_id,
        message_id,
        depth,
        previous_id as ancestor_id,
        1 as distance
    from {{ waiting(ref('int_tangle_reach')) }}
    where depth = {{ round_number() }}

    union all

    select
        edges.tangle_name,
        edges.root_id,
        edges.message_id,
        edges.depth,
        settled.ancestor_id,
        settled.distance + 1 as distance
    from {{ waiting(ref('int_tangle_reach')) }} as edges
    inner join {{ this_round() }} as settled
        on
            edges.tangle_name = settled.tangle_name
            and edges.root_id = settled.root_id
            and edges.previous_id = settled.message_id
    where settled.is_settled

    union all

    select
        tangle_name,
        root_id,
        message_id,
        depth,
        ancestor_id,
        distance
    from {{ this_round() }}
    where not is_settled
)

select
    tangle_name,
    root_id,
    message_id,
    depth,
    ancestor_id,
    max(distance) as distance,
    depth = {{ round_number() }} as is_settled
from pairs
group by tangle_name, root_id, message_id, depth, ancestor_id
{{ next_query() }}
-- Waiting: the edges of deeper members.
select
    tangle_name,
    root_id,
    message_id,
    depth,
    previous_id
from {{ waiting(ref('int_tangle_reach')) }}
where depth > {{ round_number() }}
