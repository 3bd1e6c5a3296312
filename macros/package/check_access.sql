{#- Private models are for this project alone. dbt refuses readers outside the dbt group; this check also covers a project that
    puts one of its own models into the group. -#}
{% macro check_access() %}
    {%- for node in graph.nodes.values() if node.package_name != 'tangles' -%}
        {%- for parent in node.depends_on.nodes if parent.split('.')[1] == 'tangles' -%}
            {%- if graph.nodes.get(parent, {}).get('access') == 'private' -%}
                {% do exceptions.raise_compiler_error(
                    node.unique_id ~ ' reads ' ~ parent ~ ', which is private: only the marts of tangles may be read in other'
                    ~ ' projects: ref one of them instead'
                ) %}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
{% endmacro %}
