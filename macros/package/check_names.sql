{#- dbt distinguishes models of one name by their projects, with two exceptions. Unless a flag is set, `ref` in a model of tangles
    finds a model of the same name in the installing project. And the yml of a disabled model of tangles applies to any
    other model of its name. Models of tangles may read foreign models only as logs that vars name. -#}
{% macro check_names() %}
    {%- for node in graph.nodes.values() -%}
        {%- if node.package_name != 'tangles' and (node.patch_path or '').startswith('tangles://') -%}
            {% do exceptions.raise_compiler_error(
                node.unique_id ~ ' has the name of a disabled model of tangles, and dbt would apply the yml of that model to'
                ~ ' it: rename this model, or enable the model of tangles'
            ) %}
        {%- endif -%}
        {%- if node.package_name == 'tangles' and node.name != 'stg_tables__lines' -%}
            {%- for parent in node.depends_on.nodes if parent.split('.')[1] != 'tangles' -%}
                {% do exceptions.raise_compiler_error(
                    node.name ~ ' of tangles would read ' ~ parent ~ ', which has the name of a model of tangles. Say in'
                    ~ ' dbt_project.yml flags: {require_ref_searches_node_package_before_root: true}'
                ) %}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
{% endmacro %}
