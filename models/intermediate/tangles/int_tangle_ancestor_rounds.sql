{{ config(
    materialized='fixpoint',
    meta={
        'result_columns': ['tangle_name', 'root_id', 'message_id', 'ancestor_id', 'distance'],
        'rounds': sql_rounds(),
        'first_round': 1,
        'words': {'round': 'depth', 'rows': 'pairs'}
    }
) }}

-- Base: at depth 1, whoever follows the root alone.
select
    tangle_name,
    root_id,
    message_id,
    previous_id as ancestor_id,
    1 as distance,
    true as is_settled
from {{ ref('int_tangle_reach') }}
where has_pairs and depth = 1
{{ next_query() }}
-- Step: whoever is as deep as the round follows its previous, and all that those follow.
with edges as (
    select * from {{ ref('int_tangle_reach') }}
    where has_pairs and depth = {{ round_number() }}
),

paths as (
    select
        tangle_name,
        root_id,
        message_id,
        previous_id as ancestor_id,
        1 as distance
    from edges

    union all

    select
        edges.tangle_name,
        edges.root_id,
        edges.message_id,
        pairs.ancestor_id,
        pairs.distance + 1 as distance
    from edges
    inner join {{ all_rounds() }} as pairs
        on
            edges.tangle_name = pairs.tangle_name
            and edges.root_id = pairs.root_id
            and edges.previous_id = pairs.message_id
)

select
    tangle_name,
    root_id,
    message_id,
    ancestor_id,
    max(distance) as distance,
    true as is_settled
from paths
group by tangle_name, root_id, message_id, ancestor_id
