{#- The vars that name a log. As soon as one is given, the inputs not given are empty. -#}
{% macro log_vars() %}
    {{ return(['ssb_log']) }}
{% endmacro %}


{% macro is_fixture_run() %}
    {%- set given = [] -%}
    {%- for name in log_vars() if var(name) is not none -%}
        {% do given.append(name) %}
    {%- endfor -%}
    {{ return(given | length == 0) }}
{% endmacro %}
