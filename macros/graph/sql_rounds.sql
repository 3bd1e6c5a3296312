{#- How many rounds SQL runs at most, by the vars tangle_engine and sql_round_budget; none: as many as it takes. It is
    asked while parsing too, before check_vars can refuse a budget that is no number. -#}
{% macro sql_rounds() %}
    {%- if var('tangle_engine') == 'sql' -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set budget = var('sql_round_budget') -%}
    {{ return(budget if var('tangle_engine') == 'auto' and budget is number else 0) }}
{% endmacro %}


{#- Whether SQL runs any, as a condition that Spark sees through while it plans. -#}
{% macro has_sql_rounds() -%}
    {{ 'false' if var('tangle_engine') == 'kernel' else 'true' }}
{%- endmacro %}

