{% macro counted_key_columns() %}
    {%- if model.package_name == 'tangles' and model.access == 'public' and var('count_changes') -%}
        {{ return(tangles.key_columns_of(model)) }}
    {%- endif -%}
    {{ return(none) }}
{% endmacro %}


{% macro key_columns_of(node) %}
    {%- for constraint in node.constraints if constraint.type == 'primary_key' -%}
        {{ return(constraint.columns) }}
    {%- endfor -%}
    {{ return([]) }}
{% endmacro %}


{% macro record_changes() %}
    {%- set model = graph.nodes.get('model.tangles.run_changes') -%}
    {%- if model is none or not model.config.enabled -%}
        {{ return('') }}
    {%- endif -%}
    {%- set relation = api.Relation.create(schema=model.schema, identifier=model.alias, type='table') -%}
    {%- set stands = recover_interrupted_swap(relation) -%}
    {%- set known, rows = [], [] -%}
    {%- if stands -%}
        {%- for row in run_query('select run_id, table_name from ' ~ relation) -%}
            {% do known.append((row[0], row[1])) %}
        {%- endfor -%}
    {%- endif -%}
    {%- for table, run_id, counts in counted_tables() if (run_id, table) not in known -%}
        {% do rows.append(
            "('" ~ run_id ~ "', " ~ string_literal(table) ~ ', ' ~ counts.rows_added ~ ', ' ~ counts.rows_changed ~ ', '
            ~ counts.rows_removed ~ ')'
        ) %}
    {%- endfor -%}
    {%- if rows -%}
        {%- set query -%}
            select
                run_id,
                table_name,
                cast(rows_added as bigint) as rows_added,
                cast(rows_changed as bigint) as rows_changed,
                cast(rows_removed as bigint) as rows_removed
            from values {{ rows | join(', ') }} as counted (run_id, table_name, rows_added, rows_changed, rows_removed)
            {%- if stands %}
            union all
            select run_id, table_name, rows_added, rows_changed, rows_removed from {{ relation }}
            {%- endif %}
        {%- endset -%}
        {% do rebuild_atomically(relation, query, model.config.get('file_format') or 'parquet') %}
    {%- endif -%}
{% endmacro %}


{% macro counted_tables() %}
    {%- set ours, schemas, found = [], [], [] -%}
    {%- for node in project_nodes() if node.access == 'public' -%}
        {% do ours.append((node.schema ~ '.' ~ node.alias) | lower) %}
        {% do schemas.append(node.schema | lower) %}
    {%- endfor -%}
    {%- for schema in schemas | unique -%}
        {%- for table in adapter.published(schema) or [] if schema ~ '.' ~ table.name in ours -%}
            {%- if (table.changes or {}).values() | sum > 0 -%}
                {% do found.append((schema ~ '.' ~ table.name, table.changed_in, table.changes)) %}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{% endmacro %}
