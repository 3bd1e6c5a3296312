{#- Whether the models of these logs are built: if one of the logs is given, and in a run on the fixtures. -#}
{% macro has_log() %}
    {% do refuse_jinja() %}
    {%- for name in varargs if var(name) is not none -%}
        {{ return(true) }}
    {%- endfor -%}
    {{ return(is_fixture_run()) }}
{% endmacro %}


{% macro has_groups() %}
    {{ return(has_log('ssb_log') and var('private_groups')) }}
{% endmacro %}
