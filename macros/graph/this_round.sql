{% macro this_round() -%}
    __this_round__
{%- endmacro %}
