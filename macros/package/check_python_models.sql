{% macro check_python_models() %}
    {%- set models = [] -%}
    {%- for id in selected_resources if id in graph.nodes -%}
        {%- set node = graph.nodes[id] -%}
        {%- if node.resource_type == 'model' and node.language == 'python' -%}
            {% do models.append({'name': node.name, 'packages': node.config.packages}) %}
        {%- endif -%}
    {%- endfor -%}
    {% do adapter.check_python_models(models) %}
{% endmacro %}
