{#- The vars that name a log. As soon as one is given, the inputs not given are empty. -#}
{% macro log_vars() %}
    {{ return(['ssb_log', 'pzp_log', 'autobase_log', 'event_log']) }}
{% endmacro %}
