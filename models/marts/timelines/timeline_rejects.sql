{{ config(enabled=has_log('ssb_log', 'event_log')) }}

{% if has_log('event_log') -%}
with lines as (
    select
        source_file,
        line,
        line_digest,
        timeline_id,
        event_id,
        reject_reason,
        detail
    from {{ ref('stg_events__lines') }}
),

rejected as (
    select
        source_file,
        line,
        line_digest,
        timeline_id,
        event_id,
        reject_reason as reason,
        detail
    from lines
    where reject_reason is not null

    union all

    select
        lines.source_file,
        lines.line,
        lines.line_digest,
        lines.timeline_id,
        lines.event_id,
        if(sizes.has_messages, 'timeline_taken', 'timeline_too_large') as reason,
        if(
            sizes.has_messages,
            'the SSB log has this timeline, or a tangle of it',
            'its timeline has more than {{ var('graph_limit') }} arrivals'
        ) as detail
    from lines
    inner join {{ ref('int_timeline_sizes') }} as sizes on lines.timeline_id = sizes.timeline_id
    where lines.reject_reason is null and (sizes.has_messages or sizes.is_too_large)

    union all

    select
        placed.source_file,
        placed.line,
        lines.line_digest,
        placed.timeline_id,
        placed.event_id,
        placed.reason,
        case placed.reason
            when 'conflict' then 'other lines give the event other causes or another author'
            when 'duplicate' then 'the event arrived before'
            when 'cycle' then 'the event would follow itself'
            when 'too_many_previous' then 'more than {{ var('max_previous') }} distinct causes'
        end as detail
    from {{ ref('int_timeline_order') }} as placed
    left join lines on placed.source_file = lines.source_file and placed.line = lines.line
    where placed.reason is not null and placed.line is not null
)

{{ merge_equal_rejects('rejected', ['source_file', 'line', 'timeline_id', 'event_id', 'reason', 'detail']) }}

union all
{%- endif %}

-- Of the timelines of messages only that of the SSB log can be too large: tangles that are too large have no members.
select
    cast(null as string) as source_file,
    cast(null as bigint) as line,
    timeline_id,
    cast(null as string) as event_id,
    'timeline_too_large' as reason,
    concat('it has ', arrival_count, ' messages, more than {{ var('graph_limit') }}') as detail,
    cast(0 as bigint) as line_count
from {{ ref('int_timeline_sizes') }}
where has_messages and is_too_large
