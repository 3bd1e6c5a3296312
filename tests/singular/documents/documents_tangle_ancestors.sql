-- Every example of the documents: all that came before each message, as "all previous" of the origin story.
{{ config(enabled=(var('ssb_log') is none)) }}

with expected as (
    select
        stated.tangle_name,
        roots.message_id as root_id,
        letters.message_id,
        ancestors.message_id as ancestor_id,
        stated.distance
    from {{ ref('expected_tangle_ancestors') }} as stated
    inner join {{ ref('ssb_fixture_letters') }} as letters
        on stated.example = letters.example and stated.message = letters.letter
    inner join {{ ref('ssb_fixture_letters') }} as roots
        on stated.example = roots.example and stated.root = roots.letter
    inner join {{ ref('ssb_fixture_letters') }} as ancestors
        on stated.example = ancestors.example and stated.ancestor = ancestors.letter
),

built as (
    select
        ancestors.tangle_name,
        ancestors.root_id,
        ancestors.message_id,
        ancestors.ancestor_id,
        ancestors.distance
    from {{ ref('tangle_ancestors') }} as ancestors
    left semi join {{ ref('ssb_fixture_letters') }} as letters on ancestors.message_id = letters.message_id
)

{{ differences('expected', 'built') }}
