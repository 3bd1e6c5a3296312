{% macro define_feed_tangles() -%}
feeds as (
    select
        author,
        root_id,
        count(*) as member_count,
        max_by(message_id, sequence) as tip,
        count_if(is_misordered) as misordered_pairs,
        count_if(is_received_misordered) as misordered_received_pairs
    from {{ ref('int_feed_tangles') }}
    group by author, root_id
),

feed_tangles as (
    select
        'ssb:feed' as tangle_name,
        feeds.root_id,
        {{ format_tangle_id("'ssb:feed'", 'feeds.root_id') }} as tangle_id,
        'present' as root_status,
        cast(candidates.message_count as int) as candidate_count,
        cast(feeds.member_count as int) as member_count,
        cast(candidates.message_count - feeds.member_count as int) as set_aside_count,
        0 as invalid_claim_count,
        cast(feeds.member_count - 1 as int) as edge_count,
        1 as author_count,
        cast(feeds.member_count - 1 as int) as depth,
        1 as width,
        0 as fork_count,
        0 as merge_count,
        array(feeds.tip) as tips,
        cast(feeds.misordered_pairs as int) as misordered_pairs,
        cast(feeds.misordered_received_pairs as int) as misordered_received_pairs
    from feeds
    inner join {{ ref('feeds') }} as candidates on feeds.author = candidates.author
)
{%- endmacro %}
