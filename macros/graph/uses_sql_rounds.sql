{% macro uses_sql_rounds() -%}
    {#- Rendered while parsing too, before check_vars can refuse a budget that is no number. -#}
    {%- set budget = var('sql_round_budget') if var('sql_round_budget') is number else 0 -%}
    {{ return(var('tangle_engine') == 'sql' or (var('tangle_engine') == 'auto' and budget > 0)) }}
{%- endmacro %}
