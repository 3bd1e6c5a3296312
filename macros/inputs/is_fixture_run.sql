{#- Whether no log is given, so that the seed fixtures are the input. -#}
{% macro is_fixture_run() %}
    {% do refuse_jinja() %}
    {%- set given = [] -%}
    {%- for name in log_vars() if var(name) is not none -%}
        {% do given.append(name) %}
    {%- endfor -%}
    {{ return(given | length == 0) }}
{% endmacro %}
