{#- dbt-spark's session method puts seed values between quotes as they are: an empty cell becomes the word None, and
    quotes and backslashes break the statement or change. This writes proper literals. -#}
{% macro spark__load_csv_rows(model, agate_table) %}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- for chunk in agate_table.rows | batch(get_batch_size()) -%}
        {%- set sql -%}
            insert into {{ this.render() }} values
            {% for row in chunk -%}
                (
                {%- for name in agate_table.column_names -%}
                    cast({{ string_literal(row[loop.index0]) }} as {{ types.get(name, 'string') }})
                    {%- if not loop.last %}, {% endif -%}
                {%- endfor -%}
                )
                {%- if not loop.last %}, {% endif %}
            {% endfor -%}
        {%- endset -%}
        {% do adapter.add_query(sql, abridge_sql_log=True) %}
    {%- endfor -%}
    {{ return('insert into ' ~ this.render()) }}
{% endmacro %}
