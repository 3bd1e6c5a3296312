-- Every example of the documents: each message of each feed, and whether it is in the verified chain.

with expected as (
    select
        letters.message_id,
        authors.feed_id as author,
        stated.sequence,
        stated.in_chain,
        stated.reason
    from {{ ref('expected_feed_messages') }} as stated
    inner join
        {{ ref('ssb_fixture_feeds') }} as authors
        on stated.example = authors.example and stated.author = authors.name
    {{ by_letter('letters', 'message') }}
),

built as (
    select
        messages.message_id,
        messages.author,
        messages.sequence,
        messages.in_chain,
        messages.reason
    from {{ ref('feed_messages') }} as messages
    left semi join {{ stated_only('expected_feeds') }} as letters on messages.message_id = letters.message_id
)

{{ differences('expected', 'built') }}
