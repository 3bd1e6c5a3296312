{#- Limit of the SQL rounds, by the vars tangle_engine and sql_round_budget; null means unlimited. dbt calls this while it
    parses, before check_vars refuses a budget that is not a number. -#}
{% macro get_round_limit() %}
    {%- if var('tangle_engine') == 'sql' -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set budget = var('sql_round_budget') -%}
    {{ return(budget if var('tangle_engine') == 'auto' and budget is number else 0) }}
{% endmacro %}


{#- Whether any SQL rounds run, as a constant condition, which Spark evaluates while it plans. -#}
{% macro has_sql_rounds() -%}
    {{ 'false' if var('tangle_engine') == 'kernel' else 'true' }}
{%- endmacro %}

