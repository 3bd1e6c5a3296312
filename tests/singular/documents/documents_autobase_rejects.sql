-- The lines of the Autobase log that cannot be used, and why.

with expected as (
    select
        source_file,
        line,
        reason
    from {{ ref('expected_autobase_rejects') }}
),

built as (
    select
        source_file,
        line,
        reason
    from {{ ref('autobase_rejects') }}
)

{{ differences('expected', 'built') }}
