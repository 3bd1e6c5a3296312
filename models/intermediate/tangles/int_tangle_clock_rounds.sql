{{ config(
    materialized='fixpoint',
    meta={
        'result_columns': ['tangle_name', 'root_id', 'message_id', 'author', 'sequence'],
        'rounds': sql_rounds(),
        'first_round': 1,
        'words': {'round': 'depth', 'rows': 'entries'}
    }
) }}

-- Base: at depth 1, whoever has seen the root alone.
select
    tangle_name,
    root_id,
    message_id,
    previous_author as author,
    previous_sequence as sequence,
    true as is_settled
from {{ ref('int_tangle_reach') }}
where not has_pairs and depth = 1
{{ next_query() }}
-- Step: whoever is as deep as the round has seen its previous, and all that those have seen.
with edges as (
    select * from {{ ref('int_tangle_reach') }}
    where not has_pairs and depth = {{ round_number() }}
),

seen as (
    select
        tangle_name,
        root_id,
        message_id,
        previous_author as author,
        previous_sequence as sequence
    from edges

    union all

    select
        edges.tangle_name,
        edges.root_id,
        edges.message_id,
        clocks.author,
        clocks.sequence
    from edges
    inner join {{ all_rounds() }} as clocks
        on
            edges.tangle_name = clocks.tangle_name
            and edges.root_id = clocks.root_id
            and edges.previous_id = clocks.message_id
)

select
    tangle_name,
    root_id,
    message_id,
    author,
    max(sequence) as sequence,
    true as is_settled
from seen
group by tangle_name, root_id, message_id, author
