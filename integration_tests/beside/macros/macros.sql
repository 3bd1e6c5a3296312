{% macro logs() %}42{% endmacro %}


{% macro summarise() %}
    {% if execute %}{% do log('beside has its say', info=True) %}{% endif %}
{% endmacro %}
