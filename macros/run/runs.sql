{% macro runs_relation() %}
    {%- set node = graph.nodes.get('model.tangles.runs') -%}
    {%- if node is none or not node.config.enabled -%}
        {{ return(none) }}
    {%- elif node.config.materialized != 'create_if_missing' -%}
        {% do exceptions.raise_compiler_error(
            'runs must be create_if_missing, not ' ~ node.config.materialized ~ ': in dbt_project.yml, below models: tangles: marts:,'
            ~ ' say runs: {+materialized: create_if_missing}'
        ) %}
    {%- endif -%}
    {{ return(api.Relation.create(schema=node.schema, identifier=node.alias, type='table')) }}
{% endmacro %}


{% macro runs_format() %}
    {{ return(graph.nodes['model.tangles.runs'].config.get('file_format') or 'parquet') }}
{% endmacro %}


{% macro is_run() %}
    {{ return(execute and flags.WHICH in ['build', 'run', 'seed', 'retry'] and is_selected()) }}
{% endmacro %}


{% macro begin_run() %}
    {%- if is_run() and runs_relation() is not none -%}
        {%- set relation = runs_relation() -%}
        {% do adapter.create_schema(relation) %}
        {%- set tables, changed = standing_tables(), standing_tables('changed_in') -%}
        {%- set begun = run_row() -%}
        {%- if recover_interrupted_swap(relation) -%}
            {% do report_table_versions(relation, tables) %}
            {%- set columns = adapter.get_columns_in_relation(relation) | map(attribute='name') | list -%}
            {%- set earlier -%}
                select
                    run_id,
                    started_at,
                    finished_at,
                    if(status = 'running', 'interrupted', status) as status,
                    inputs,
                    vars,
                    is_full,
                    project_version,
                    {{ tables_of_runs(tables) }} as tables,
                    {{ tables_of_runs(changed, column='changed_tables') }} as changed_tables,
                    {{ 'snapshots' if 'snapshots' in columns else snapshot_map() }} as snapshots
                from {{ relation }}
            {%- endset -%}
            {% do rebuild_atomically(relation, earlier ~ ' union all ' ~ begun, runs_format()) %}
        {%- else -%}
            {% do rebuild_atomically(relation, begun, runs_format()) %}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}


{% macro end_run(results) %}
    {%- if is_run() and runs_relation() is not none -%}
        {%- set relation = runs_relation() -%}
        {%- set ours = results | selectattr('node.package_name', 'equalto', 'tangles') -%}
        {%- set failed = ours | selectattr('status', 'in', ['error', 'fail', 'runtime error', 'skipped']) | list -%}
        {%- set is_this = "run_id = '" ~ invocation_id ~ "'" -%}
        {%- set query -%}
            select
                run_id,
                started_at,
                if({{ is_this }}, current_timestamp(), finished_at) as finished_at,
                if({{ is_this }}, '{{ 'error' if failed else 'success' }}', status) as status,
                {{ inputs_read(results, is_this) }} as inputs,
                vars,
                is_full and not ({{ is_this }} and {{ count_unchanged(results) > 0 }}) as is_full,
                project_version,
                {{ tables_of_runs(standing_tables(), results) }} as tables,
                {{ tables_of_runs(standing_tables('changed_in'), results, 'changed_tables') }} as changed_tables,
                if({{ is_this }}, {{ current_snapshots() }}, snapshots) as snapshots
            from {{ relation }}
        {%- endset -%}
        {% do rebuild_atomically(relation, query, runs_format()) %}
        {% do record_changes() %}
    {%- endif -%}
{% endmacro %}


{% macro run_row() -%}
    select
        '{{ invocation_id }}' as run_id,
        timestamp '{{ run_started_at.strftime('%Y-%m-%d %H:%M:%S.%f+00:00') }}' as started_at,
        cast(null as timestamp) as finished_at,
        'running' as status,
        {{ list_inputs() }} as inputs,
        {{ vars_given() }} as vars,
        {{ is_full_run() }} as is_full,
        '{{ project_version() }}' as project_version,
        cast(array() as array<string>) as tables,
        cast(array() as array<string>) as changed_tables,
        {{ snapshot_map() }} as snapshots
{%- endmacro %}


{% macro list_inputs(built={}) -%}
    cast(array(
    {%- for name, lines in logs() | dictsort if var(name) is not none -%}
        {%- set size = adapter.measure_input(var(name), name) if lines in built and var(name) is string -%}
        named_struct(
            'var', '{{ name }}',
            'path', {{ string_literal(format_log_name(name)) }},
            'files', {{ size.files if size else 'null' }},
            'bytes', {{ size.bytes if size else 'null' }},
            'lines', {% if lines in built %}(select count(*) from {{ built[lines] }}){% else %}null{% endif %}
        )
        {%- if not loop.last %}, {% endif -%}
    {%- endfor -%}
    ) as array<struct<var: string, path: string, files: bigint, bytes: bigint, lines: bigint>>)
{%- endmacro %}


{% macro inputs_read(results, is_this) -%}
    {%- set built = {} -%}
    {%- for result in results if result.status == 'success' and result.node.name in logs().values() -%}
        {% do built.update({result.node.name: result.node.relation_name}) %}
    {%- endfor -%}
    {%- if built -%}
        if({{ is_this }}, {{ list_inputs(built) }}, inputs)
    {%- else -%}
        inputs
    {%- endif -%}
{%- endmacro %}


{% macro vars_given() -%}
    map(
    {%- for name in settings() -%}
        {{ string_literal(name) }}, {{ string_literal(var(name) | tojson) }}
        {%- if not loop.last %}, {% endif -%}
    {%- endfor -%}
    )
{%- endmacro %}


{% macro is_full_run() %}
    {%- set carried = [] -%}
    {%- for node in project_nodes() if node.resource_type == 'model' and node.name not in ['runs', 'run_changes'] -%}
        {%- set goes_on = (node.config.meta or {}).is_history
            or (adapter.is_planned() and node.config.meta.holds != 'changed_groups'
                and (node.config.meta.group_versions or node.config.meta.holds == 'versions')) -%}
        {%- if node.unique_id not in selected_resources
            or (goes_on and not flags.FULL_REFRESH
                and adapter.get_relation(node.database, node.schema, node.alias) is not none) -%}
            {% do carried.append(node.name) %}
        {%- endif -%}
    {%- endfor -%}
    {{ return(carried | length == 0) }}
{% endmacro %}
