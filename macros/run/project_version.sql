{#- The version of this project, as in dbt_project.yml, which macros cannot read. -#}
{% macro project_version() %}
    {{ return('0.1.0') }}
{% endmacro %}
