{#- The three queries of a fixpoint model that passes entries from each member to the members that list it. An entry has
    a key and a value; of several entries with one key a member keeps the one with the greatest value. A round settles
    the members of one depth: all their previous have lower depths, so their entries are complete. Entries that reach
    deeper members wait, unsettled, for the round of those members.

    edges: the relation `int_tangle_reach`. condition: its rows that count. key, value: the columns of an entry. edge_key,
    edge_value: the entry that an edge itself gives. passed_value: the value that a member passes on. -#}
{% macro propagate_along_edges(edges, condition, key, value, edge_key, edge_value, passed_value) -%}
-- Base: a member at depth 1 has the entries of its own edges, which lead to the root.
select
    tangle_name,
    root_id,
    message_id,
    depth,
    {{ edge_key }} as {{ key }},
    {{ edge_value }} as {{ value }},
    true as is_settled
from {{ waiting(edges) }}
where {{ condition }} and depth = 1
{{ next_query() }}
-- Step: the edges of this round's depth give their own entries, and the members of the last round pass theirs on.
with entries as (
    select
        tangle_name,
        root_id,
        message_id,
        depth,
        {{ edge_key }} as {{ key }},
        {{ edge_value }} as {{ value }}
    from {{ waiting(edges) }}
    where {{ condition }} and depth = {{ round_number() }}

    union all

    select
        edges.tangle_name,
        edges.root_id,
        edges.message_id,
        edges.depth,
        settled.{{ key }},
        settled.{{ passed_value }} as {{ value }}
    from {{ waiting(edges) }} as edges
    inner join {{ this_round() }} as settled
        on
            edges.tangle_name = settled.tangle_name
            and edges.root_id = settled.root_id
            and edges.previous_id = settled.message_id
    where {{ condition }} and settled.is_settled

    union all

    select
        tangle_name,
        root_id,
        message_id,
        depth,
        {{ key }},
        {{ value }}
    from {{ this_round() }}
    where not is_settled
)

select
    tangle_name,
    root_id,
    message_id,
    depth,
    {{ key }},
    max({{ value }}) as {{ value }},
    depth = {{ round_number() }} as is_settled
from entries
group by tangle_name, root_id, message_id, depth, {{ key }}
{{ next_query() }}
-- Waiting: the edges of deeper members.
select *
from {{ waiting(edges) }}
where {{ condition }} and depth > {{ round_number() }}
{%- endmacro %}
