{#- Whether the seed fixtures are the input: no log is given, and this project is not installed in another. -#}
{% macro is_fixture_run() %}
    {% do refuse_jinja() %}
    {%- set given = [] -%}
    {%- for name in logs() if var(name) is not none -%}
        {% do given.append(name) %}
    {%- endfor -%}
    {{ return(project_name == 'tangles' and given | length == 0) }}
{% endmacro %}
