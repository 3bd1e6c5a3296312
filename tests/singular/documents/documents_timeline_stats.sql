-- Every example of the documents: how large its timeline is and, arrival by arrival, how many commands lead to it.
{{ config(enabled=var('edit_batch_size') == 1) }}
with stated as (
    select
        timeline_id,
        event_count,
        author_count,
        rank_count,
        edit_count
    from {{ ref('expected_timeline_counts') }}
),

built as (
    select
        built.timeline_id,
        built.event_count,
        built.author_count,
        built.rank_count,
        built.edit_count
    from {{ ref('timeline_stats') }} as built
    left semi join {{ ref('expected_timeline_counts') }} as stated on built.timeline_id = stated.timeline_id
)

{{ differences('stated', 'built') }}
