{#- Each base has a root that stands for all there was before, so that a base's first nodes have something to follow
    and nodes of no base have not. -#}
with nodes as (
    select * from {{ ref('int_autobase_nodes') }}
    where {{ is_changed('base_id', ref('int_base_versions')) }}
),

followings as (
    select
        nodes.base_id,
        nodes.node_id,
        head.writer,
        head.length
    from nodes
        lateral view explode(nodes.heads) exploded as head
),

-- A batch is followed by its last node only; and only what is not before the log has to be there.
linked as (
    select
        followings.base_id,
        followings.node_id,
        sort_array(collect_list(concat(followings.writer, ':', followings.length))) as previous,
        bool_or(followed.batch > 1) as splits_batch
    from followings
    left join nodes as followed
        on
            followings.base_id = followed.base_id
            and followings.writer = followed.writer
            and followings.length = followed.length
    left join {{ ref('int_autobase_starts') }} as beginnings
        on followings.base_id = beginnings.base_id and followings.writer = beginnings.writer
    where followings.length > coalesce(beginnings.start_length, 0)
    group by followings.base_id, followings.node_id
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
                coalesce(linked.previous, cast(array() as array<string>))
            )
        ) as previous,
        false as is_root,
        coalesce(nodes.defect, if(linked.splits_batch, 'bad_batch', null)) as claim_error
    from nodes
    left join linked on nodes.base_id = linked.base_id and nodes.node_id = linked.node_id
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
