{{ config(enabled=has_log('ssb_log')) }}

with links as (
    select * from {{ ref('int_feed_links') }}
),

chains as (
    select
        author,
        max(sequence) as verified_length,
        max_by(message_id, sequence) as latest_message_id
    from {{ ref('int_feed_chain') }}
    group by author
),

counts as (
    select
        author,
        cast(count(*) as int) as message_count,
        max(sequence) as max_sequence,
        cast(count_if(is_opaque) as int) as opaque_count
    from links
    group by author
),

-- The messages at the sequence after the chain, and the number of them that follow its last message.
chain_ends as (
    select
        counts.author,
        count(links.message_id) as message_count,
        count_if(links.previous_id <=> chains.latest_message_id) as successor_count
    from counts
    left join chains on counts.author = chains.author
    inner join links
        on counts.author = links.author and links.sequence = coalesce(chains.verified_length, 0) + 1
    group by counts.author
),

-- The first missing sequence below the feed's last.
gaps as (
    select
        author,
        min(sequence_before) + 1 as gap_sequence
    from (
        select
            author,
            sequence,
            lag(sequence, 1, 0) over (partition by author order by sequence) as sequence_before
        from links
        where sequence >= 1
    ) as neighbours
    where sequence - sequence_before > 1
    group by author
)

select
    counts.author,
    counts.message_count,
    counts.opaque_count,
    counts.max_sequence,
    coalesce(chains.verified_length, 0) as verified_length,
    cast(if(chain_ends.successor_count > 1, coalesce(chains.verified_length, 0) + 1, null) as int) as fork_sequence,
    cast(gaps.gap_sequence as int) as gap_sequence,
    case
        when chains.verified_length = counts.message_count then 'complete'
        -- The chain reaches the last sequence, but other messages of the feed are outside it.
        when chains.verified_length >= counts.max_sequence then 'bad_link'
        when chain_ends.author is null then 'gap'
        when chain_ends.successor_count > 1 then 'forked'
        else 'bad_link'
    end as status,
    chains.latest_message_id
from counts
left join chains on counts.author = chains.author
left join chain_ends on counts.author = chain_ends.author
left join gaps on counts.author = gaps.author
