{{ config(
    enabled=has_log('ssb_log'),
    materialized='fixpoint',
    meta={
        'result_columns': ['tangle_name', 'root_id', 'message_id', 'depth'],
        'rounds': 500 if var('tangle_engine') == 'auto' else none,
        'words': {'round': 'depth', 'rows': 'messages'}
    }
) }}

-- Base: the roots, at depth 0.
select
    tangle_name,
    root_id,
    message_id,
    0 as depth,
    0 as met_count,
    0 as previous_count,
    true as is_settled
from {{ ref('int_tangle_candidates') }}
where is_root and claim_error is null and {{ has_sql_rounds() }}
{{ next_query() }}
-- Step: each message counts its settled previous, and settles in the round after that of the last one.
with counted as (
    select
        tangle_name,
        root_id,
        message_id,
        depth,
        met_count,
        previous_count
    from {{ this_round() }}
    where not is_settled

    union all

    select
        edges.tangle_name,
        edges.root_id,
        edges.message_id,
        settled.depth + 1 as depth,
        1 as met_count,
        edges.previous_count
    from {{ waiting(ref('int_tangle_edges')) }} as edges
    inner join {{ this_round() }} as settled
        on
            edges.tangle_name = settled.tangle_name
            and edges.root_id = settled.root_id
            and edges.previous_id = settled.message_id
    where settled.is_settled
)

select
    tangle_name,
    root_id,
    message_id,
    max(depth) as depth,
    cast(sum(met_count) as int) as met_count,
    max(previous_count) as previous_count,
    sum(met_count) = max(previous_count) as is_settled
from counted
group by tangle_name, root_id, message_id
{{ next_query() }}
-- Waiting: the edges with a previous message that has not settled.
select
    edges.tangle_name,
    edges.root_id,
    edges.message_id,
    edges.previous_id,
    edges.previous_count
from {{ waiting(ref('int_tangle_edges')) }} as edges
left anti join {{ done_rounds() }} as settled
    on
        edges.tangle_name = settled.tangle_name
        and edges.root_id = settled.root_id
        and edges.previous_id = settled.message_id
