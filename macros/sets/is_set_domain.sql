{#- Whether a domain is the domain of a set; false for null. -#}
{% macro is_set_domain(domain) %}coalesce(startswith({{ domain }}, 'set_v1__'), false){% endmacro %}
