{% macro summarise(results) %}
    {%- if execute and flags.WHICH in ['build', 'run'] and is_selected() -%}
        {%- set built = {} -%}
        {%- for result in results if result.status == 'success' and result.node.resource_type == 'model'
            and result.node.package_name == 'tangles' -%}
            {% do built.update({result.node.name: result.node}) %}
        {%- endfor -%}
        {%- set counted = [] -%}
        {%- set schemas = [] -%}
        {%- for name in ['ssb_messages', 'ssb_rejects', 'feeds', 'tangles', 'tangle_messages', 'tangle_edges',
            'group_epochs', 'group_members', 'group_findings',
            'pzp_messages', 'pzp_rejects', 'sets', 'set_messages', 'set_items',
            'autobase_bases', 'autobase_nodes', 'autobase_views', 'autobase_rejects',
            'timeline_events', 'timeline_links', 'timeline_edits', 'timeline_rejects']
            if name in built -%}
            {% do counted.append("select " ~ loop.index0 ~ " as n, '" ~ name ~ "' as name, count(*) as c from "
                ~ built[name].relation_name) %}
            {% do schemas.append(built[name].schema) %}
        {%- endfor -%}
        {%- if counted -%}
            {% do print('') %}
            {%- for row in run_query(counted | join(' union all ') ~ ' order by n') -%}
                {% do print('  ' ~ '%-18s' | format(row[1]) ~ '%12s row' | format('{:,}'.format(row[2] | int))
                    ~ ('' if row[2] | int == 1 else 's')) %}
            {%- endfor -%}
            {% do print_table_locations(schemas | unique | list) %}
        {%- endif -%}
        {%- if project_name == 'tangles' -%}
            {% do print('  ' ~ describe_outcome(results)) %}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}


{% macro print_table_locations(schemas) %}
    {%- set warehouse = adapter.warehouse_path() -%}
    {%- if warehouse is not none -%}
        {%- set folders = [] -%}
        {%- for schema in schemas -%}
            {% do folders.append(warehouse ~ '/' ~ (schema | lower) ~ '.db/<table>/') %}
        {%- endfor -%}
        {%- set runs = runs_relation() -%}
        {%- set schema = (schemas | first if runs is none else runs.schema) | lower -%}
        {%- set words = ['tangles', 'status'] -%}
        {%- if warehouse != 'warehouse' -%}
            {% do words.extend(['--warehouse', warehouse]) %}
        {%- endif -%}
        {%- if schema != 'tangles' -%}
            {% do words.extend(['--schema', schema]) %}
        {%- endif -%}
        {% do print('  Tables: ' ~ folders | join(', ') ~ ' (parquet).  A look: ' ~ adapter.shown_command(*words)) %}
    {%- endif -%}
{% endmacro %}


{% macro count_unchanged(results) %}
    {{ return(results | selectattr('adapter_response._message', 'equalto', 'unchanged') | list | length) }}
{% endmacro %}


{% macro describe_outcome(results) -%}
    {%- set counts = {'passed': 0, 'warned': 0, 'failed': 0, 'skipped': 0} -%}
    {%- for result in results if result.status != 'no-op' -%} {#- exposures -#}
        {%- set name = {'success': 'passed', 'pass': 'passed', 'warn': 'warned', 'skipped': 'skipped'}.get(
            result.status | string, 'failed') -%}
        {% do counts.update({name: counts[name] + 1}) %}
    {%- endfor -%}
    {%- set said = [] -%}
    {%- for name, count in counts.items() if count or name == 'passed' -%}
        {% do said.append(count ~ ' ' ~ name) %}
    {%- endfor -%}
    {%- set unchanged = count_unchanged(results) -%}
    {{ return(said | join(', ') ~ (' (' ~ unchanged ~ ' unchanged)' if unchanged else '')) }}
{%- endmacro %}
