-- Every example of a group: its epochs, which of them is preferred, and why.
{{ config(enabled=var('verify_signatures') is true) }}

with {{ letter_names() }},

expected as (
    select
        example,
        epoch,
        group_root,
        coalesce(previous_epochs, '') as previous_epochs,
        depth,
        is_tip,
        is_preferred,
        preference,
        is_decided_by_peers,
        tip_count,
        added_count,
        excluded_count,
        missing_count,
        returned_count
    from {{ ref('expected_group_epochs') }}
),

built as (
    select
        letters.example,
        letters.letter as epoch,
        names.letters[epochs.group_id] as group_root,
        {{ letters_of('epochs.previous_epochs') }} as previous_epochs,
        epochs.depth,
        epochs.is_tip,
        epochs.is_preferred,
        epochs.preference,
        epochs.is_decided_by_peers,
        epochs.tip_count,
        epochs.added_count,
        epochs.excluded_count,
        epochs.missing_count,
        epochs.returned_count
    from {{ ref('group_epochs') }} as epochs
    cross join names
    inner join {{ ref('ssb_fixture_letters') }} as letters on epochs.epoch_id = letters.message_id
)

{{ differences('expected', 'built') }}
