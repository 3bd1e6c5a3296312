-- Every example of the documents: the causes that never came.
with stated as (
    select
        timeline_id,
        event_id,
        missing_cause
    from {{ ref('expected_timeline_missing_causes') }}
),

built as (
    select
        timeline_id,
        event_id,
        explode(missing_causes) as missing_cause
    from {{ ref('timeline_events') }}
)

{{ differences('stated', 'built') }}
