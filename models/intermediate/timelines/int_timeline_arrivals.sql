{%- set lines = ref('stg_events__lines') if is_enabled('staging.events.stg_events__lines') else select_no_rows({
    'source_file': 'string', 'block_start': 'bigint', 'row_id': 'bigint', 'timeline_id': 'string', 'event_id': 'string',
    'causes': 'array<string>', 'author': 'string', 'arrival': 'bigint', 'detail': 'string'
}) -%}
{%- set messages = ref('int_timeline_messages') if has_message_timelines() else select_no_rows({
    'timeline_id': 'string', 'event_id': 'string', 'causes': 'array<string>', 'feed_causes': 'array<string>',
    'both_causes': 'array<string>', 'weak_causes': 'array<string>', 'left_out_causes': 'array<string>',
    'author': 'string', 'arrival': 'bigint', 'is_tangle': 'boolean'
}) -%}

with blocks as (
    {{- locate_line_blocks(lines) }}
),

taken as (
    select distinct timeline_id
    from {{ messages }}
),

events as (
    select
        lines.timeline_id,
        lines.event_id,
        lines.causes,
        lines.author,
        lines.arrival,
        lines.source_file,
        lines.row_id + blocks.first_line as line
    from {{ lines }} as lines
    inner join blocks on lines.source_file = blocks.source_file and lines.block_start = blocks.block_start
    -- Timelines of the SSB log hold messages only.
    left anti join taken on lines.timeline_id = taken.timeline_id
    where lines.detail is null and {{ is_changed('lines.timeline_id', ref('int_timeline_versions')) }}
)

select
    timeline_id,
    event_id,
    causes,
    cast(null as array<string>) as feed_causes,
    cast(null as array<string>) as both_causes,
    cast(null as array<string>) as weak_causes,
    cast(null as array<string>) as left_out_causes,
    author,
    arrival,
    false as is_tangle,
    {% if var('max_previous') is none -%}
    cast(null as string)
    {%- else -%}
    if(size(causes) > {{ var('max_previous') }}, 'too_many_previous', null)
    {%- endif %} as refusal,
    source_file,
    line
from events

union all

select
    timeline_id,
    event_id,
    causes,
    feed_causes,
    both_causes,
    weak_causes,
    left_out_causes,
    author,
    arrival,
    is_tangle,
    cast(null as string) as refusal,
    cast(null as string) as source_file,
    cast(null as bigint) as line
from {{ messages }}
