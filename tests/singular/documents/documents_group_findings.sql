-- Every example of a group: where the peers go wrong.
{{ config(enabled=var('verify_signatures') is true) }}

with {{ letter_names() }},

expected as (
    select
        example,
        group_root,
        finding,
        epoch,
        person,
        if(finding = 'dropped_after_return', messages, {{ sorted_words('messages') }}) as messages,
        message_count
    from {{ ref('expected_group_findings') }}
),

built as (
    select
        letters.example,
        letters.letter as group_root,
        findings.finding,
        names.letters[findings.epoch_id] as epoch,
        feeds.name as person,
        if(
            findings.finding = 'dropped_after_return',
            {{ letters_of('findings.message_ids') }},
            {{ sorted_words(letters_of('findings.message_ids')) }}
        ) as messages,
        findings.message_count
    from {{ ref('group_findings') }} as findings
    cross join names
    inner join {{ ref('ssb_fixture_letters') }} as letters on findings.group_id = letters.message_id
    left join {{ ref('ssb_fixture_feeds') }} as feeds
        on findings.feed_id = feeds.feed_id and letters.example = feeds.example
)

{{ differences('expected', 'built') }}
