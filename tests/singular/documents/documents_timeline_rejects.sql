-- The lines of the event log that give no event, and why.
with stated as (
    select
        source_file,
        line,
        reason
    from {{ ref('expected_timeline_rejects') }}
),

built as (
    select
        source_file,
        line,
        reason
    from {{ ref('timeline_rejects') }}
)

{{ differences('stated', 'built') }}
