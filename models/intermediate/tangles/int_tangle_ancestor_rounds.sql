{{ config(
    materialized='fixpoint',
    meta={
        'result_columns': ['tangle_name', 'root_id', 'message_id', 'ancestor_id', 'distance'],
        'first_round': 1,
        'small_rows': var('sql_edge_limit'),
        'words': {'round': 'depth', 'rows': 'pairs'}
    }
) }}

-- Base: a member at depth 1 follows the root alone.
select
    tangle_name,
    root_id,
    message_id,
    depth,
    previous_id as ancestor_id,
    1 as distance,
    true as is_settled
from {{ waiting(ref('int_tangle_reach')) }}
where has_pairs and depth = 1
{{ next_query() }}
-- Step: the members of the last round hand their ancestors to the members that list them. The pairs of a member at the
-- depth of this round are complete, as all its previous are less deep; the pairs of deeper members wait.
with paths as (
    select
        tangle_name,
        root_id,
        message_id,
        depth,
        previous_id as ancestor_id,
        1 as distance
    from {{ waiting(ref('int_tangle_reach')) }}
    where has_pairs and depth = {{ round_number() }}

    union all

    select
        edges.tangle_name,
        edges.root_id,
        edges.message_id,
        edges.depth,
        pairs.ancestor_id,
        pairs.distance + 1 as distance
    from {{ waiting(ref('int_tangle_reach')) }} as edges
    inner join {{ this_round() }} as pairs
        on
            edges.tangle_name = pairs.tangle_name
            and edges.root_id = pairs.root_id
            and edges.previous_id = pairs.message_id
    where edges.has_pairs and pairs.is_settled

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
from paths
group by tangle_name, root_id, message_id, depth, ancestor_id
{{ next_query() }}
-- Waiting: the edges of deeper members.
select
    tangle_name,
    root_id,
    message_id,
    depth,
    has_pairs,
    previous_id
from {{ waiting(ref('int_tangle_reach')) }}
where depth > {{ round_number() }}
