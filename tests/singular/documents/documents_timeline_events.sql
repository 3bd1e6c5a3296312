-- Every example of the documents: the events of its timeline, at their rank and position.
with stated as (
    select
        timeline_id,
        event_id,
        rank,
        position,
        is_tip
    from {{ ref('expected_timeline_events') }}
),

built as (
    select
        built.timeline_id,
        built.event_id,
        built.rank,
        built.position,
        built.is_tip
    from {{ ref('timeline_events') }} as built
    left semi join {{ ref('expected_timeline_counts') }} as stated on built.timeline_id = stated.timeline_id
)

{{ differences('stated', 'built') }}
