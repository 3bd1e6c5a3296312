{#- The lines of the event log; no rows where a project leaves them out. -#}
{% macro select_event_lines() -%}
    {%- if has_log('event_log') -%}
        {{ ref('stg_events__lines') }}
    {%- else -%}
        {{ select_no_rows({
            'source_file': 'string', 'line': 'bigint', 'line_digest': 'binary', 'timeline_id': 'string',
            'event_id': 'string', 'causes': 'array<string>', 'author': 'string', 'arrival': 'bigint',
            'reject_reason': 'string', 'detail': 'string'
        }) }}
    {%- endif -%}
{%- endmacro %}
