{{ config(enabled=has_log('ssb_log')) }}

with levels as (
    select
        *,
        claim_error is null as is_candidate,
        set_aside_reason is null as is_member,
        if(set_aside_reason is null and not is_root, array_distinct(previous), null) as followed,
        count(*) over (partition by tangle_name, root_id, depth) as member_count_of_depth
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
        max(if(is_member, member_count_of_depth, 0)) as width,
        count_if(child_count > 1) as fork_count,
        count_if(size(followed) > 1) as merge_count,
        array_sort(collect_list(if(child_count = 0, message_id, null))) as tips
    from levels
    group by tangle_name, root_id
    having count_if(is_candidate) > 0
),

links as (
    select
        tangle_name,
        root_id,
        asserted_ms,
        received_ms,
        explode(followed) as previous_id
    from levels
),

edges as (
    select
        links.tangle_name,
        links.root_id,
        count(*) as edge_count,
        count_if(links.asserted_ms < previous.asserted_ms) as misordered_pairs,
        count_if(links.received_ms < previous.received_ms) as misordered_received_pairs
    from links
    inner join levels as previous
        on
            links.tangle_name = previous.tangle_name
            and links.root_id = previous.root_id
            and links.previous_id = previous.message_id
    group by links.tangle_name, links.root_id
),

-- Only a root without members may be sealed or unusable in the log, or missing.
roots_in_log as (
    select
        messages.message_id,
        {{ is_sealed('messages') }} as is_sealed
    from {{ ref('ssb_messages') }} as messages
    left semi join counts on messages.message_id = counts.root_id and not counts.has_root
),

{{ define_feed_tangles() }}

select
    counts.tangle_name,
    counts.root_id,
    {{ format_tangle_id('counts.tangle_name', 'counts.root_id') }} as tangle_id,
    case
        when counts.has_root then 'present'
        when counts.is_too_large then 'too_large'
        when roots_in_log.is_sealed then 'sealed'
        when roots_in_log.message_id is not null then 'unusable'
        else 'missing'
    end as root_status,
    cast(counts.candidate_count as int) as candidate_count,
    cast(counts.member_count as int) as member_count,
    cast(counts.set_aside_count as int) as set_aside_count,
    cast(counts.invalid_claim_count as int) as invalid_claim_count,
    cast(coalesce(edges.edge_count, 0) as int) as edge_count,
    cast(counts.author_count as int) as author_count,
    coalesce(counts.depth, 0) as depth,
    cast(counts.width as int) as width,
    cast(counts.fork_count as int) as fork_count,
    cast(counts.merge_count as int) as merge_count,
    counts.tips,
    cast(coalesce(edges.misordered_pairs, 0) as int) as misordered_pairs,
    cast(coalesce(edges.misordered_received_pairs, 0) as int) as misordered_received_pairs
from counts
left join edges on counts.tangle_name = edges.tangle_name and counts.root_id = edges.root_id
left join roots_in_log on counts.root_id = roots_in_log.message_id
union all
select * from feed_tangles
