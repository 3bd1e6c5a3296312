{#- dbt tells models of one name apart by their projects, but not everywhere. Where a project that installs this one has a
    model of the same name, dbt hands it to ours too, unless a flag is set; and the yml of one that is switched off here
    to whatever else has its name. Of another's models ours read none but the logs that vars name. -#}
{% macro check_names() %}
    {%- for node in graph.nodes.values() -%}
        {%- if node.package_name != 'tangles' and (node.patch_path or '').startswith('tangles://') -%}
            {% do exceptions.raise_compiler_error(
                node.unique_id ~ ' has the name of a model of tangles that is switched off, and dbt takes what is said of'
                ~ ' that one for what is said of this: call it something else, or leave the other one on'
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
