{#- Prints which run built which tables, unless all of them come from one completed run. -#}
{% macro report_table_versions(relation, tables) %}
    {%- set query -%}
        select
            date_format(started_at, 'yyyy-MM-dd HH:mm:ss') as started_at,
            finished_at is null as is_cut_off,
            array_join(transform(inputs, given -> concat(given.var, ' ', given.path)), ', ') as inputs,
            size({{ tables_of_runs(tables) }}) as table_count
        from {{ relation }}
        order by started_at desc
    {%- endset -%}
    {%- set runs = [] -%}
    {%- for row in run_query(query) -%}
        {%- if row[3] > 0 or (loop.first and row[1]) -%}
            {% do runs.append(row) %}
        {%- endif -%}
    {%- endfor -%}
    {%- if runs | length > 1 or runs | selectattr(1) | list -%}
        {% do print('What stands in the warehouse is not all of one run:') %}
        {%- for row in runs -%}
            {% do print(
                '  ' ~ '%4d' | format(row[3]) ~ (' table' if row[3] == 1 else ' tables') ~ ' of the run of '
                ~ row[0] ~ ' over ' ~ (row[2] or 'the fixtures') ~ (', which did not end' if row[1] else '')
            ) %}
        {%- endfor -%}
        {% do print('  A build of everything (no --select) makes it so; the table runs says which is of which.') %}
    {%- endif -%}
{% endmacro %}
