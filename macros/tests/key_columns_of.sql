{% macro key_columns_of(node) %}
    {%- for constraint in node.constraints if constraint.type == 'primary_key' -%}
        {{ return(constraint.columns) }}
    {%- endfor -%}
    {{ return([]) }}
{% endmacro %}
