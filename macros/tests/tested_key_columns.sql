{#- The test's argument `model` hides the node of the test, so this is a macro. -#}
{% macro tested_key_columns() %}
    {{ return(tangles.key_columns_of(graph.nodes.get(model.attached_node, {})) if execute else []) }}
{% endmacro %}
