{#- Names and roots may hold anything, so the first `:` always ends the name: one within it is written `%3A`. A `%` is
    written `%25` where it would be read as either, and stays as it is elsewhere. -#}
{% macro tangle_timeline_id(tangle_name='tangle_name', root_id='root_id') -%}
concat(replace(regexp_replace({{ tangle_name }}, '%(?=25|3A)', '%25'), ':', '%3A'), ':', {{ root_id }})
{%- endmacro %}
