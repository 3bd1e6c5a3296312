{#- A table that iterates a step query to its fixpoint; `adapter.run_fixpoint` runs the rounds. -#}
{% materialization fixpoint, adapter='spark', supported_languages=['sql'] %}
    {%- set plan = tangles.plan_node() -%}
    {%- set target_relation = tangles.prepare_table(plan) -%}
    {%- if plan.action == 'reuse' -%}
        {{ return(tangles.finish_table(plan, target_relation)) }}
    {%- endif -%}

    {%- set queries = compiled_code.split(tangles.next_query() | trim) -%}
    {%- if queries | length not in [2, 3] -%}
        {% do exceptions.raise_compiler_error(
            model['name'] ~ ' has ' ~ queries | length ~ ' queries: give a fixpoint a base query, a step query and optionally a query for waiting rows,'
            ~ ' separated by tangles.next_query()'
        ) %}
    {%- endif -%}
    {%- set columns = config.meta_require('result_columns') -%}
    {%- set result = '__fixpoint_result__' -%}
    {% do adapter.run_fixpoint(
        target_relation,
        config.get('file_format') or 'parquet',
        queries,
        {
            'this_round': tangles.this_round(),
            'all_rounds': tangles.all_rounds(),
            'done_rounds': tangles.done_rounds(),
            'round_number': tangles.round_number(),
            'waiting': tangles.waiting(''),
            'result': result,
        },
        {
            'columns': columns,
            'first_round': config.meta_get('first_round') or 0,
            'rounds': config.meta_get('rounds'),
            'words': config.meta_get('words') or {'round': 'round', 'rows': 'rows'},
        },
        create_table_as(False, target_relation, result),
    ) %}
    {% do store_raw_result('main', message='OK', code='OK', rows_affected=-1) %}

    {{ return(tangles.finish_table(plan, target_relation)) }}
{% endmaterialization %}
