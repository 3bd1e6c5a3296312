{#- With the engine `auto` rounds run in a full build of a log with few edges. A night computes few tangles, but these may be deep. -#}
{% macro has_sql_rounds() -%}
    {%- if var('tangle_engine') == 'auto' and plan_node().action != 'replace' -%}
    (
        select coalesce(sum(size(previous)), 0)
        from {{ ref('int_tangle_candidates') }}
        where claim_error is null and not is_root and previous is not null
    ) <= {{ var('sql_edge_limit') }}
    {%- else -%}
    {{ 'true' if var('tangle_engine') == 'sql' else 'false' }}
    {%- endif -%}
{%- endmacro %}
