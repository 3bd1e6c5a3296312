{% macro is_set_domain(domain) %}coalesce(startswith({{ domain }}, 'set_v1__'), false){% endmacro %}
