{{ config(enabled=has_log('ssb_log')) }}

with levels as (
    select
        *,
        claim_error is null as is_candidate,
        set_aside_reason is null as is_member
    from {{ ref('int_tangle_levels') }}
    where root_id is not null
),

counts as (
    select
        tangle_name,
        root_id,
        max(is_root and is_member) as has_root,
        max(set_aside_reason <=> 'tangle_too_large') as is_too_large,
        count_if(is_candidate) as candidate_count,
        count_if(is_member) as member_count,
        count_if(is_candidate and not is_member) as set_aside_count,
        count_if(not is_candidate) as invalid_claim_count,
        count(distinct if(is_member, author, null)) as author_count,
        max(depth) as depth,
        count_if(child_count > 1) as fork_count,
        count_if(is_member and not is_root and size(array_distinct(previous)) > 1) as merge_count,
        array_sort(collect_list(if(child_count = 0, message_id, null))) as tips
    from levels
    group by tangle_name, root_id
),

widths as (
    select
        tangle_name,
        root_id,
        max(member_count) as width
    from (
        select
            tangle_name,
            root_id,
            count(*) as member_count
        from levels
        where is_member
        group by tangle_name, root_id, depth
    ) as depths
    group by tangle_name, root_id
),

edges as (
    select
        edges.tangle_name,
        edges.root_id,
        count(*) as edge_count,
        count_if(levels.asserted_at < previous.asserted_at) as misordered_pairs,
        count_if(levels.received_at < previous.received_at) as misordered_received_pairs
    from {{ ref('tangle_edges') }} as edges
    inner join levels
        on
            edges.tangle_name = levels.tangle_name
            and edges.root_id = levels.root_id
            and edges.message_id = levels.message_id
    inner join levels as previous
        on
            edges.tangle_name = previous.tangle_name
            and edges.root_id = previous.root_id
            and edges.previous_id = previous.message_id
    where
        edges.is_member_edge
        and edges.tangle_name != 'ssb:feed'
        and {{ is_changed('edges.root_id', ref('int_tangle_versions')) }}
    group by edges.tangle_name, edges.root_id
),

-- root_status tells a sealed or unusable root, which the log has, from a missing one.
known_roots as (
    select
        messages.message_id,
        {{ is_sealed('messages') }} as is_sealed
    from {{ ref('ssb_messages') }} as messages
),

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

feed_candidates as (
    select
        author,
        message_count as candidate_count
    from {{ ref('feeds') }}
)

select
    counts.tangle_name,
    counts.root_id,
    case
        when counts.has_root then 'present'
        when counts.is_too_large then 'too_large'
        when known_roots.is_sealed then 'sealed'
        when known_roots.message_id is not null then 'unusable'
        else 'missing'
    end as root_status,
    cast(counts.candidate_count as int) as candidate_count,
    cast(counts.member_count as int) as member_count,
    cast(counts.set_aside_count as int) as set_aside_count,
    cast(counts.invalid_claim_count as int) as invalid_claim_count,
    cast(coalesce(edges.edge_count, 0) as int) as edge_count,
    cast(counts.author_count as int) as author_count,
    coalesce(counts.depth, 0) as depth,
    cast(coalesce(widths.width, 0) as int) as width,
    cast(counts.fork_count as int) as fork_count,
    cast(counts.merge_count as int) as merge_count,
    counts.tips,
    cast(coalesce(edges.misordered_pairs, 0) as int) as misordered_pairs,
    cast(coalesce(edges.misordered_received_pairs, 0) as int) as misordered_received_pairs
from counts
left join widths on counts.tangle_name = widths.tangle_name and counts.root_id = widths.root_id
left join edges on counts.tangle_name = edges.tangle_name and counts.root_id = edges.root_id
left join known_roots on counts.root_id = known_roots.message_id
where counts.candidate_count > 0

union all

select
    'ssb:feed' as tangle_name,
    feeds.root_id,
    'present' as root_status,
    cast(feed_candidates.candidate_count as int) as candidate_count,
    cast(feeds.member_count as int) as member_count,
    cast(feed_candidates.candidate_count - feeds.member_count as int) as set_aside_count,
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
inner join feed_candidates on feeds.author = feed_candidates.author
