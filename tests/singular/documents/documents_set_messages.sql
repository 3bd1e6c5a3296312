-- Every example of a set: which messages are in it, in which order, and what each is good for.
{{ config(enabled=var('verify_signatures') is true and var('set_ghost_span') == 32) }}

with expected as (
    select
        roots.message_id as set_id,
        letters.message_id,
        stated.is_valid,
        stated.is_held,
        stated.reject_reason,
        stated.position,
        stated.letter = 'R' and stated.is_valid as is_root,
        stated.is_item_root,
        stated.is_tip,
        stated.purpose
    from {{ ref('expected_set_messages') }} as stated
    {{ by_letter('letters', 'letter', 'pzp_fixture_letters') }}
    inner join {{ ref('pzp_fixture_letters') }} as roots on stated.example = roots.example and roots.letter = 'R'
),

built as (
    select
        set_id,
        message_id,
        is_valid,
        is_held,
        reject_reason,
        position,
        is_root,
        is_item_root,
        is_tip,
        purpose
    from {{ ref('set_messages') }}
)

{{ differences('expected', 'built') }}
