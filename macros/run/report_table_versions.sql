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
        {% do print('The warehouse holds tables of several runs, or of a run that did not end:') %}
        {%- for row in runs[:5] -%}
            {% do print(
                '  ' ~ '%4d' | format(row[3]) ~ (' table' if row[3] == 1 else ' tables') ~ ' of the run of '
                ~ row[0] ~ ' over ' ~ (row[2] or 'the fixtures') ~ (', which did not end' if row[1] else '')
            ) %}
        {%- endfor -%}
        {%- if runs | length > 5 -%}
            {% do print('  ' ~ '%4d' | format(runs[5:] | map(attribute=3) | sum) ~ ' of ' ~ (runs | length - 5) ~ ' earlier runs') %}
        {%- endif -%}
        {% do print('  A build without --select builds them all in one run. The table runs lists the tables of each run.') %}
    {%- endif -%}
{% endmacro %}
