{{ config(
    materialized='fixpoint',
    meta={
        'result_columns': ['tangle_name', 'root_id', 'message_id', 'author', 'sequence'],
        'first_round': 1,
        'small_rows': var('sql_edge_limit'),
        'words': {'round': 'depth', 'rows': 'entries'}
    }
) }}

-- Base: a member at depth 1 has seen the root alone.
select
    tangle_name,
    root_id,
    message_id,
    depth,
    previous_author as author,
    previous_sequence as sequence,
    true as is_settled
from {{ waiting(ref('int_tangle_reach')) }}
where not has_pairs and depth = 1
{{ next_query() }}
-- Step: the members of the last round hand their clocks to the members that list them. The clock of a member at the
-- depth of this round is complete, as all its previous are less deep; the entries of deeper members wait.
with seen as (
    select
        tangle_name,
        root_id,
        message_id,
        depth,
        previous_author as author,
        previous_sequence as sequence
    from {{ waiting(ref('int_tangle_reach')) }}
    where not has_pairs and depth = {{ round_number() }}

    union all

    select
        edges.tangle_name,
        edges.root_id,
        edges.message_id,
        edges.depth,
        clocks.author,
        clocks.sequence
    from {{ waiting(ref('int_tangle_reach')) }} as edges
    inner join {{ this_round() }} as clocks
        on
            edges.tangle_name = clocks.tangle_name
            and edges.root_id = clocks.root_id
            and edges.previous_id = clocks.message_id
    where not edges.has_pairs and clocks.is_settled

    union all

    select
        tangle_name,
        root_id,
        message_id,
        depth,
        author,
        sequence
    from {{ this_round() }}
    where not is_settled
)

select
    tangle_name,
    root_id,
    message_id,
    depth,
    author,
    max(sequence) as sequence,
    depth = {{ round_number() }} as is_settled
from seen
group by tangle_name, root_id, message_id, depth, author
{{ next_query() }}
-- Waiting: the edges of deeper members.
select
    tangle_name,
    root_id,
    message_id,
    depth,
    has_pairs,
    previous_id,
    previous_author,
    previous_sequence
from {{ waiting(ref('int_tangle_reach')) }}
where depth > {{ round_number() }}
