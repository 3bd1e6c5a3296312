{% macro is_routed_to_sql(candidate_count) -%}
    ({{ var('tangle_engine') == 'sql' }} or {{ candidate_count }} - 1 <= {{ var('sql_round_budget') }})
{%- endmacro %}
