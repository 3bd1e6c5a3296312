{#- Inserts the rows of a seed as SQL literals. dbt-spark puts every value between quotes: an empty cell becomes the word None, and
    quotes and backslashes break the statement. -#}
{% macro sparkpython__load_csv_rows(model, agate_table) %}
    {%- set given, types, statements = model.config.get('column_types', {}), [], [] -%}
    {%- for column in agate_table.column_names -%}
        {% do types.append(given.get(column, adapter.convert_type(agate_table, loop.index0))) %}
    {%- endfor -%}
    {%- for rows in agate_table.rows | batch(get_batch_size()) -%}
        {% do statements.append('insert into ' ~ this ~ ' values ' ~ adapter.write_rows(rows, types)) %}
        {% do adapter.add_query(statements[-1], abridge_sql_log=True) %}
    {%- endfor -%}
    {{ return(statements[0]) }}
{% endmacro %}
