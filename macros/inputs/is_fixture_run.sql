{% macro is_fixture_run() %}
    {% do check_adapter() %}
    {% do refuse_jinja() %}
    {%- set given = [] -%}
    {%- for name in logs() if var(name) is not none -%}
        {% do given.append(name) %}
    {%- endfor -%}
    {{ return(project_name == 'tangles' and given | length == 0) }}
{% endmacro %}
