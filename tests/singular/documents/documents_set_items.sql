-- Every example of a set: its items, in order, and what put them there.
{{ config(enabled=var('verify_signatures') is true) }}

with expected as (
    select
        roots.message_id as set_id,
        stated.item,
        stated.item_position,
        letters.message_id as added_by
    from {{ ref('expected_set_items') }} as stated
    {{ by_letter('letters', 'added_by', 'pzp_fixture_letters') }}
    inner join {{ ref('pzp_fixture_letters') }} as roots on stated.example = roots.example and roots.letter = 'R'
),

built as (
    select
        set_id,
        item,
        item_position,
        added_by
    from {{ ref('set_items') }}
)

{{ differences('expected', 'built') }}
