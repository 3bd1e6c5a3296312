{% macro string_literal(value) -%}
    {%- if value is none -%}
        null
    {%- else -%}
        '{{ value | string | replace('\\', '\\\\') | replace("'", "\\'") }}'
    {%- endif -%}
{%- endmacro %}
