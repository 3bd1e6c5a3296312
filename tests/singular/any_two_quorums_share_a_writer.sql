{{ config(meta={'group_versions': 'int_base_versions', 'group_key': 'base_id'}) }}

-- Each quorum holds distinct indexers, more than half of them, so any two quorums of a base have a writer in common.
select
    quorums.base_id,
    quorums.node_id,
    quorums.degree
from {{ ref('autobase_quorums') }} as quorums
inner join {{ ref('int_autobase_bases') }} as bases on quorums.base_id = bases.base_id
where
    {{ is_changed('quorums.base_id', ref('int_base_versions')) }}
    and (
        size(quorums.writers) < bases.majority
        or size(array_intersect(quorums.writers, bases.indexers)) <> size(quorums.writers)
    )
