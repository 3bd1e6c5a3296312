{{ config(enabled=has_log('autobase_log')) }}

{#- Each base has a root that stands for everything before this log. The first nodes of a base follow this root; nodes
    without their base therefore have a missing previous. -#}
with nodes as (
    select * from {{ ref('int_autobase_nodes') }}
    where {{ is_changed('base_id', ref('int_base_versions')) }}
),

head_links as (
    select
        nodes.base_id,
        nodes.node_id,
        head.writer,
        head.length
    from nodes
        lateral view explode(nodes.heads) exploded as head
),

-- Nodes may follow only the last node of a batch. Heads before the start of this log need not be present.
heads_by_node as (
    select
        head_links.base_id,
        head_links.node_id,
        sort_array(collect_list(concat(head_links.writer, ':', head_links.length))) as previous,
        bool_or(followed.batch > 1) as splits_batch
    from head_links
    left join nodes as followed
        on
            head_links.base_id = followed.base_id
            and head_links.writer = followed.writer
            and head_links.length = followed.length
    left join {{ ref('int_autobase_starts') }} as log_starts
        on head_links.base_id = log_starts.base_id and head_links.writer = log_starts.writer
    where head_links.length > coalesce(log_starts.start_length, 0)
    group by head_links.base_id, head_links.node_id
),

candidates as (
    select
        nodes.base_id,
        nodes.node_id,
        array_distinct(
            concat(
                if(
                    nodes.length - 1 > nodes.start_length,
                    array(concat(nodes.writer, ':', nodes.length - 1)),
                    array('')
                ),
                coalesce(heads_by_node.previous, cast(array() as array<string>))
            )
        ) as previous,
        false as is_root,
        coalesce(nodes.defect, if(heads_by_node.splits_batch, 'bad_batch', null)) as claim_error
    from nodes
    left join heads_by_node on nodes.base_id = heads_by_node.base_id and nodes.node_id = heads_by_node.node_id
)

select
    base_id,
    node_id,
    previous,
    is_root,
    claim_error
from candidates

union all

select
    base_id,
    '' as node_id,
    cast(array() as array<string>) as previous,
    true as is_root,
    cast(null as string) as claim_error
from {{ ref('int_autobase_bases') }}
where {{ is_changed('base_id', ref('int_base_versions')) }}
