-- Every example of the documents: who is in each tangle, at what depth, in which orders.

with expected as (
    select
        stated.tangle_name,
        roots.message_id as root_id,
        letters.message_id,
        stated.is_member,
        stated.set_aside_reason,
        stated.depth,
        stated.is_root,
        stated.is_tip,
        stated.is_fork,
        stated.is_merge,
        stated.position,
        stated.thread_position,
        stated.asserted_position
    from {{ ref('expected_tangle_messages') }} as stated
    {{ by_letter('letters', 'message') }}
    {{ by_letter('roots', 'root') }}
),

built as (
    select
        messages.tangle_name,
        messages.root_id,
        messages.message_id,
        messages.is_member,
        messages.set_aside_reason,
        messages.depth,
        messages.is_root,
        messages.is_tip,
        messages.is_fork,
        messages.is_merge,
        messages.position,
        messages.thread_position,
        messages.asserted_position
    from {{ ref('tangle_messages') }} as messages
    left semi join {{ stated_only('expected_tangles') }} as letters on messages.message_id = letters.message_id
)

{{ differences('expected', 'built') }}
