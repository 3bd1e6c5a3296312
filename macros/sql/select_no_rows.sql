{% macro select_no_rows(columns) -%}
(
    select
        {%- for name, type in columns.items() %}
        cast(null as {{ type }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    where false
)
{%- endmacro %}
