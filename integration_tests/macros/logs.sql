{% macro logs() %}
    {{ return('not what tangles calls logs') }}
{% endmacro %}
