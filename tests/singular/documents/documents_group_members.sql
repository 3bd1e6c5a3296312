-- Every example of a group: who was added, excluded, or is missing, in each epoch.
{{ config(enabled=var('verify_signatures') is true) }}

with {{ letter_names() }},

expected as (
    select
        example,
        group_root,
        epoch,
        person,
        is_added,
        is_excluded,
        is_member,
        {{ sorted_words("coalesce(added_by, '')") }} as added_by,
        {{ sorted_words("coalesce(excluded_by, '')") }} as excluded_by,
        is_missing,
        is_returned
    from {{ ref('expected_group_members') }}
),

built as (
    select
        letters.example,
        names.letters[members.group_id] as group_root,
        letters.letter as epoch,
        feeds.name as person,
        members.is_added,
        members.is_excluded,
        members.is_member,
        {{ sorted_words(letters_of('members.added_by')) }} as added_by,
        {{ sorted_words(letters_of('members.excluded_by')) }} as excluded_by,
        members.is_missing,
        members.is_returned
    from {{ ref('group_members') }} as members
    cross join names
    inner join {{ ref('ssb_fixture_letters') }} as letters on members.epoch_id = letters.message_id
    left join {{ ref('ssb_fixture_feeds') }} as feeds
        on members.feed_id = feeds.feed_id and letters.example = feeds.example
)

{{ differences('expected', 'built') }}
