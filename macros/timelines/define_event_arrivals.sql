{% macro define_event_arrivals() -%}
event_arrivals as (
    select
        lines.timeline_id,
        lines.event_id,
        lines.causes,
        cast(null as array<string>) as cause_kinds,
        cast(null as array<string>) as left_out_causes,
        lines.author,
        lines.arrival,
        cast(null as double) as received_ms,
        {% if var('max_previous') is none -%}
        cast(null as string)
        {%- else -%}
        if(size(array_remove(lines.causes, lines.event_id)) > {{ var('max_previous') }}, 'too_many_previous', null)
        {%- endif %} as refusal,
        lines.source_file,
        lines.line
    from {{ ref('stg_events__lines') }} as lines
    inner join {{ ref('int_timeline_sizes') }} as sizes on lines.timeline_id = sizes.timeline_id
    where
        lines.detail is null
        and not sizes.has_messages
        and not sizes.is_too_large
        and {{ is_changed('lines.timeline_id', ref('int_timeline_versions')) }}
)
{%- endmacro %}
