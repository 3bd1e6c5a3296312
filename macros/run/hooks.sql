{#- The running command, for the tables of runs; see `dbt_spark_python.run_history.Run`. -#}
{% macro describe_run() %}
    {%- set inputs, given = [], {} -%}
    {%- for name, lines in logs() | dictsort if var(name) is not none -%}
        {% do inputs.append({
            'var': name, 'path': format_log_name(name), 'is_path': var(name) is string, 'lines': lines
        }) %}
    {%- endfor -%}
    {%- for name in settings() -%}
        {% do given.update({name: tojson(var(name))}) %}
    {%- endfor -%}
    {{ return({
        'package': 'tangles',
        'started_at': run_started_at.strftime('%Y-%m-%d %H:%M:%S.%f+00:00'),
        'inputs': inputs,
        'vars': given,
    }) }}
{% endmacro %}


{% macro is_run() %}
    {{ return(execute and flags.WHICH in ['build', 'run', 'seed', 'retry'] and is_selected()) }}
{% endmacro %}


{% macro begin_run() %}
    {%- if is_run() -%}
        {%- for line in adapter.begin_run(describe_run(), graph.nodes, selected_resources) -%}
            {% do print(line) %}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}


{% macro end_run(results) %}
    {%- if is_run() -%}
        {% do adapter.end_run(describe_run(), graph.nodes, results) %}
    {%- endif -%}
{% endmacro %}


{% macro summarise(results) %}
    {%- if execute and flags.WHICH in ['build', 'run'] and is_selected() -%}
        {%- set shown = [
            'ssb_messages', 'ssb_rejects', 'feeds', 'tangles', 'tangle_messages', 'tangle_edges',
            'group_epochs', 'group_members', 'group_findings',
            'pzp_messages', 'pzp_rejects', 'sets', 'set_messages', 'set_items',
            'autobase_bases', 'autobase_nodes', 'autobase_views', 'autobase_rejects',
            'timeline_events', 'timeline_links', 'timeline_edits', 'timeline_rejects'
        ] -%}
        {%- set run = describe_run() -%}
        {%- for line in adapter.summarise_run(run, graph.nodes, results, shown, ['tangles', 'status']) -%}
            {% do print(line) %}
        {%- endfor -%}
        {%- if not run.inputs and not is_fixture_run() -%}
            {% do print('  tangles has no log: set ' ~ logs() | join(', ') ~ ' below vars: tangles: in dbt_project.yml') %}
        {%- endif -%}
        {%- if project_name == 'tangles' -%}
            {% do print('  ' ~ adapter.describe_outcome(results)) %}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}


{#- The key columns of the public table that is being built, for counting changed rows; null if its changes are not counted. -#}
{% macro counted_key_columns() %}
    {%- if model.access == 'public' and var('count_changes') -%}
        {{ return(key_columns_of(model)) }}
    {%- endif -%}
    {{ return(none) }}
{% endmacro %}
