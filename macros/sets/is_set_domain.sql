{#- The domains of feeds that are sets; null is none. -#}
{% macro is_set_domain(domain) %}coalesce(startswith({{ domain }}, 'set_v1__'), false){% endmacro %}
