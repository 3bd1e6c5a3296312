{% macro project_nodes() %}
    {{ return(graph.nodes.values() | selectattr('package_name', 'equalto', 'tangles')
        | selectattr('resource_type', 'in', ['model', 'seed']) | list) }}
{% endmacro %}


{% macro published_tables() %}
    {%- set ours, found = [], [] -%}
    {%- for node in project_nodes() if node.name not in ['runs', 'run_changes'] -%}
        {% do ours.append((node.schema ~ '.' ~ node.alias) | lower) %}
    {%- endfor -%}
    {%- for schema in project_nodes() | map(attribute='schema') | unique -%}
        {%- set published = adapter.published(schema) -%}
        {%- if published is none -%}
            {{ return(none) }}
        {%- endif -%}
        {%- for table in published if schema | lower ~ '.' ~ table.name in ours -%}
            {% do found.append(dict(table, name=schema | lower ~ '.' ~ table.name)) %}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{% endmacro %}


{% macro standing_tables(by='run_id') %}
    {%- set published, tables = published_tables(), {} -%}
    {%- if published is none or (by == 'run_id' and not adapter.records_reuse()) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- for table in published -%}
        {% do tables.setdefault(table[by] or '', []).append(table.name) %}
    {%- endfor -%}
    {{ return(tables) }}
{% endmacro %}


{% macro current_snapshots() -%}
    {%- set names, snapshots = [], [] -%}
    {%- for table in published_tables() or [] if table.snapshot -%}
        {% do names.append(string_literal(table.name)) %}
        {% do snapshots.append(string_literal(table.snapshot)) %}
    {%- endfor -%}
    {{ snapshot_map(names, snapshots) }}
{%- endmacro %}


{% macro snapshot_map(names=[], snapshots=[]) -%}
    map_from_arrays(
        cast(array({{ names | join(', ') }}) as array<string>), cast(array({{ snapshots | join(', ') }}) as array<string>)
    )
{%- endmacro %}


{% macro tables_of_runs(tables, results=none, column='tables') -%}
    {%- if tables is not none -%}
        case
            {% for run, names in tables.items() if run -%}
                when run_id = {{ string_literal(run) }} then {{ name_array(names) }}
            {% endfor -%}
            when run_id is not null then {{ name_array([]) }}
        end
    {%- elif results is not none -%}
        {%- set ours, names = project_nodes() | map(attribute='unique_id') | list, [] -%}
        {%- for result in results if result.status == 'success' and result.node.unique_id in ours
            and result.node.name not in ['runs', 'run_changes'] -%}
            {% do names.append((result.node.schema ~ '.' ~ result.node.alias) | lower) %}
        {%- endfor -%}
        if(run_id = '{{ invocation_id }}', {{ name_array(names) }}, array_except({{ column }}, {{ name_array(names) }}))
    {%- else -%}
        {{ column }}
    {%- endif -%}
{%- endmacro %}


{% macro name_array(names) -%}
    cast(array(
    {%- for name in names | sort -%}
        {{ string_literal(name) }}{% if not loop.last %}, {% endif %}
    {%- endfor -%}
    ) as array<string>)
{%- endmacro %}
