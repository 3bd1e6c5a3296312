-- Every example of the documents: all that came before each message, as "all previous" of the origin story.

with expected as (
    select
        stated.tangle_name,
        roots.message_id as root_id,
        letters.message_id,
        ancestors.message_id as ancestor_id,
        stated.distance
    from {{ ref('expected_tangle_ancestors') }} as stated
    {{ by_letter('letters', 'message') }}
    {{ by_letter('roots', 'root') }}
    {{ by_letter('ancestors', 'ancestor') }}
),

built as (
    select
        ancestors.tangle_name,
        ancestors.root_id,
        ancestors.message_id,
        ancestors.ancestor_id,
        ancestors.distance
    from {{ ref('tangle_ancestors') }} as ancestors
    left semi join {{ stated_only('expected_tangles') }} as letters on ancestors.message_id = letters.message_id
)

{{ differences('expected', 'built') }}
