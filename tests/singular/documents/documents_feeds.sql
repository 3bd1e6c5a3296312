-- Every example of the documents: the classic feed tangle of each of its authors.

with expected as (
    select
        authors.feed_id as author,
        stated.message_count,
        stated.max_sequence,
        stated.verified_length,
        stated.fork_sequence,
        stated.gap_sequence,
        stated.status,
        letters.message_id as latest_message_id
    from {{ ref('expected_feeds') }} as stated
    inner join
        {{ ref('ssb_fixture_feeds') }} as authors
        on stated.example = authors.example and stated.author = authors.name
    left join {{ ref('ssb_fixture_letters') }} as letters
        on stated.example = letters.example and stated.latest = letters.letter
),

built as (
    select
        feeds.author,
        feeds.message_count,
        feeds.max_sequence,
        feeds.verified_length,
        feeds.fork_sequence,
        feeds.gap_sequence,
        feeds.status,
        feeds.latest_message_id
    from {{ ref('feeds') }} as feeds
    left semi join {{ stated_only('expected_feeds', 'ssb_fixture_feeds') }} as authors on feeds.author = authors.feed_id
)

{{ differences('expected', 'built') }}
