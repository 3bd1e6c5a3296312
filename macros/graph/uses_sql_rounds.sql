{% macro uses_sql_rounds() -%}
    {{ return(var('tangle_engine') == 'sql' or (var('tangle_engine') == 'auto' and var('sql_round_budget') > 0)) }}
{%- endmacro %}
