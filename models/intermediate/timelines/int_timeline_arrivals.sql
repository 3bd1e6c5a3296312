{%- set has_tangles = has_message_timelines() -%}
{%- set has_log = has_tangles and var('log_timeline') != false -%}

with {{ define_event_arrivals() }}
{%- if has_tangles %},

{{ define_tangle_arrivals() }}
{%- endif %}
{%- if has_log %},

{{ define_log_arrivals() }}
{%- endif %}

select * from event_arrivals
{%- if has_tangles %}
union all
select * from tangle_arrivals
{%- endif %}
{%- if has_log %}
union all
select * from log_arrivals
{%- endif %}
