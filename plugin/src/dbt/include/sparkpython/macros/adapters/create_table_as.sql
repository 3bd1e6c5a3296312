{#- dbt-spark's statement for SQL. For Python, the model's code with the name of its table, which the adapter writes. -#}
{% macro sparkpython__create_table_as(temporary, relation, compiled_code, language='sql') %}
    {%- if language == 'python' -%}
        {{ return(compiled_code ~ '\n# The table that dbt-spark-python writes: ' ~ relation) }}
    {%- endif -%}
    {{ return(spark__create_table_as(temporary, relation, compiled_code, language)) }}
{% endmacro %}
