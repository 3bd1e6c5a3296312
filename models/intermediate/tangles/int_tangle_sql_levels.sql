{{ config(materialized='fixpoint', meta={'result_columns': ['tangle_name', 'root_id', 'message_id', 'depth']}) }}

-- Base: the roots, at depth 0.
select
    tangle_name,
    root_id,
    message_id,
    0 as depth,
    0 as in_count,
    0 as previous_count,
    true as is_settled
from {{ ref('int_tangle_sql_edges') }}
where is_root;

-- Step: a message counts how many of its previous have settled, and settles with the last of them.
with arrivals as (
    select
        tangle_name,
        root_id,
        message_id,
        depth,
        in_count,
        previous_count
    from {{ this_round() }}
    where not is_settled

    union all

    select
        edges.tangle_name,
        edges.root_id,
        edges.message_id,
        settled.depth + 1 as depth,
        1 as in_count,
        edges.previous_count
    from {{ ref('int_tangle_sql_edges') }} as edges
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
    cast(sum(in_count) as int) as in_count,
    max(previous_count) as previous_count,
    sum(in_count) = max(previous_count) as is_settled
from arrivals
group by tangle_name, root_id, message_id
