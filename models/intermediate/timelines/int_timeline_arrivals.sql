{{ config(enabled=has_log('ssb_log', 'event_log')) }}

{%- set has_messages = has_log('ssb_log') -%}

with {{ define_event_arrivals() }}
{%- if has_messages %},

{{ define_tangle_arrivals() }},

{{ define_log_arrivals() }}
{%- endif %}

select * from event_arrivals
{%- if has_messages %}
union all
select * from tangle_arrivals
union all
select * from log_arrivals
{%- endif %}
