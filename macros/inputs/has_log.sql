{#- Whether the models of these logs are built: if one of the logs is given, and in a run on the fixtures. -#}
{% macro has_log() %}
    {%- set is_on = [is_fixture_run()] -%} {#- it refuses Jinja in the vars, before `var` renders one -#}
    {%- for name in varargs if var(name) is not none -%}
        {% do is_on.append(true) %}
    {%- endfor -%}
    {{ return(true in is_on) }}
{% endmacro %}


{% macro has_groups() %}
    {{ return(has_log('ssb_log') and var('private_groups')) }}
{% endmacro %}
