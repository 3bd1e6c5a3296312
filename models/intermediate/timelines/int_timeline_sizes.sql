{{ config(enabled=has_log('ssb_log', 'event_log')) }}

{%- set no_rows = select_no_rows({'timeline_id': 'string', 'arrival_count': 'bigint'}) -%}

with lines as (
    {%- if has_log('event_log') %}
    select
        timeline_id,
        count(*) as arrival_count
    from {{ ref('stg_events__lines') }}
    where detail is null
    group by timeline_id
    {%- else %}
    select * from {{ no_rows }}
    {%- endif %}
),

messages as (
    {%- if has_log('ssb_log') %}
    select
        {{ format_tangle_id() }} as timeline_id,
        count(*) as arrival_count
    from {{ ref('tangle_messages') }}
    where is_member
    group by {{ format_tangle_id() }}

    union all

    select
        'ssb:log' as timeline_id,
        count(*) as arrival_count
    from {{ ref('ssb_messages') }}
    where is_usable and {{ var('log_timeline') != false }}
    having count(*) > 0
    {%- else %}
    select * from {{ no_rows }}
    {%- endif %}
)

select
    coalesce(messages.timeline_id, lines.timeline_id) as timeline_id,
    messages.timeline_id is not null as has_messages,
    coalesce(messages.arrival_count, lines.arrival_count) as arrival_count,
    coalesce(messages.arrival_count, lines.arrival_count) > {{ var('graph_limit') }} as is_too_large
from messages
full outer join lines on messages.timeline_id = lines.timeline_id
