{#- Computes a least fixpoint in rounds, for rows that follow from other rows of the same result, without enumerating paths.

    A model has two or three queries, separated by `next_query()`. The base query is the first round, and the step query
    computes each further round; both return the same columns, among them the boolean `is_settled`. The table has the columns
    `meta.result_columns` of the settled rows of all rounds. Rounds end when one settles zero rows.

    The iteration is semi-naive: a step joins the rows of the last round (`this_round()`, settled and unsettled).
    `waiting(relation)` has the rows that wait to be joined; the third query selects those that still wait, and runs after every
    sixteenth round.

    The rows of a round are stored behind a temporary view of the session of Python models. The log has a line with the numbers
    of settled and unsettled rows of each round. Further settings in `meta`: `first_round`, the number of the base (0);
    `rounds`, the number of the last round (default: unlimited), with an empty table if rows still settle in it; `words`, the
    log's words for a `round` and its `rows`.

    An example: the level of each employee. Employees in a cycle of superiors get no row.

        {{ config(materialized='fixpoint', meta={'result_columns': ['employee', 'level']}) }}

        select employee, 0 as level, true as is_settled
        from {{ ref('staff') }}
        where superior is null
        {{ next_query() }}
        select staff.employee, above.level + 1 as level, true as is_settled
        from {{ ref('staff') }} as staff
        inner join {{ this_round() }} as above on staff.superior = above.employee
-#}
{% materialization fixpoint, adapter='sparkpython', supported_languages=['sql'] %}
    {%- set plan = plan_node() -%}
    {%- set target_relation = prepare_table(plan) -%}
    {%- if plan.action == 'reuse' -%}
        {{ return(finish_table(plan, target_relation)) }}
    {%- endif -%}

    {%- set queries = compiled_code.split(next_query() | trim) -%}
    {%- if queries | length not in [2, 3] -%}
        {% do exceptions.raise_compiler_error(
            model['name'] ~ ' has ' ~ queries | length ~ ' queries: give a fixpoint a base query, a step query and optionally a query for waiting rows,'
            ~ ' separated by next_query()'
        ) %}
    {%- endif -%}
    {% do adapter.run_fixpoint(
        target_relation,
        queries,
        {
            'columns': config.meta_require('result_columns'),
            'first_round': config.meta_get('first_round') or 0,
            'rounds': config.meta_get('rounds'),
            'words': config.meta_get('words') or {'round': 'round', 'rows': 'rows'},
        },
        create_table_as(False, target_relation, '__fixpoint_result__'),
    ) %}
    {% do store_raw_result('main', message='OK', code='OK', rows_affected=-1) %}

    {{ return(finish_table(plan, target_relation)) }}
{% endmaterialization %}
