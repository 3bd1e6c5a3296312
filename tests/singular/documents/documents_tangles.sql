-- Every example of the documents: each tangle as a whole, and the tips that the next message must carry.

with tips as (
    select
        stated.example,
        stated.tangle_name,
        stated.root,
        array_sort(collect_list(letters.message_id)) as tips
    from {{ ref('expected_tangle_tips') }} as stated
    {{ by_letter('letters', 'tip') }}
    where stated.is_final
    group by stated.example, stated.tangle_name, stated.root
),

expected as (
    select
        stated.tangle_name,
        roots.message_id as root_id,
        stated.root_status,
        stated.member_count,
        stated.set_aside_count,
        stated.edge_count,
        stated.author_count,
        stated.depth,
        stated.width,
        stated.fork_count,
        stated.merge_count,
        stated.misordered_pairs,
        tips.tips
    from {{ ref('expected_tangles') }} as stated
    {{ by_letter('roots', 'root') }}
    left join tips
        on stated.example = tips.example and stated.tangle_name = tips.tangle_name and stated.root = tips.root
),

built as (
    select
        tangles.tangle_name,
        tangles.root_id,
        tangles.root_status,
        tangles.member_count,
        tangles.set_aside_count,
        tangles.edge_count,
        tangles.author_count,
        tangles.depth,
        tangles.width,
        tangles.fork_count,
        tangles.merge_count,
        tangles.misordered_pairs,
        tangles.tips
    from {{ ref('tangles') }} as tangles
    left semi join {{ stated_only('expected_tangles') }} as letters on tangles.root_id = letters.message_id
)

{{ differences('expected', 'built') }}
