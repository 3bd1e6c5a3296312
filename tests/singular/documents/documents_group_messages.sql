-- Every example of a group: what each message says, or why it does not count.
{{ config(enabled=var('verify_signatures') is true) }}

with {{ letter_names() }},

expected as (
    select
        example,
        message,
        kind,
        set_aside_reason,
        group_root,
        epoch,
        is_connected,
        coalesce(people, '') as people,
        unchecked_count
    from {{ ref('expected_group_messages') }}
),

people as (
    select map_from_entries(collect_list(struct(feed_id, name))) as by_feed
    from {{ ref('ssb_fixture_feeds') }}
),

built as (
    select
        letters.example,
        letters.letter as message,
        messages.kind,
        messages.set_aside_reason,
        names.letters[messages.group_id] as group_root,
        names.letters[messages.epoch_id] as epoch,
        messages.is_connected,
        array_join(transform(messages.feeds, feed -> coalesce(people.by_feed[feed], feed)), ' ') as people,
        messages.unchecked_count
    from {{ ref('group_messages') }} as messages
    cross join names
    cross join people
    inner join {{ ref('ssb_fixture_letters') }} as letters on messages.message_id = letters.message_id
)

{{ differences('expected', 'built') }}
