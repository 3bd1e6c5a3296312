-- Every example of the documents: the links, and which of them other links imply.

with expected as (
    select
        stated.tangle_name,
        roots.message_id as root_id,
        letters.message_id,
        previous.message_id as previous_id,
        stated.is_redundant
    from {{ ref('expected_tangle_edges') }} as stated
    {{ by_letter('letters', 'message') }}
    {{ by_letter('roots', 'root') }}
    {{ by_letter('previous', 'previous') }}
),

built as (
    select
        edges.tangle_name,
        edges.root_id,
        edges.message_id,
        edges.previous_id,
        edges.is_redundant
    from {{ ref('tangle_edges') }} as edges
    left semi join {{ stated_only('expected_tangles') }} as letters on edges.message_id = letters.message_id
)

{{ differences('expected', 'built') }}
