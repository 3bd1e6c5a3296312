{{ config(enabled=has_log('ssb_log', 'event_log')) }}

{%- set has_events, has_messages = has_log('event_log'), has_log('ssb_log') -%}

with
{%- if has_events %}
{{ define_event_arrivals() }}{{ ',' if has_messages }}
{%- endif %}
{%- if has_messages %}

{{ define_tangle_arrivals() }},

{{ define_log_arrivals() }}
{%- endif %}

{% if has_events -%}
select * from event_arrivals
{{ 'union all' if has_messages }}
{%- endif %}
{%- if has_messages %}
select * from tangle_arrivals
union all
select * from log_arrivals
{%- endif %}
