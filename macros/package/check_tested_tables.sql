{% macro check_tested_tables() %}
    {%- set tests, missing, known = [], [], {} -%}
    {%- for id in selected_resources if id in graph.nodes -%}
        {%- set test = graph.nodes[id] -%}
        {%- if test.package_name == 'tangles' and test.resource_type == 'test' -%}
            {%- for parent in test.depends_on.nodes if parent in graph.nodes -%}
                {%- if parent not in known -%}
                    {%- set node = graph.nodes[parent] -%}
                    {% do known.update({parent: (flags.WHICH == 'build' and parent in selected_resources)
                        or node.config.materialized == 'ephemeral'
                        or (flags.DEFER and node.defer_relation)
                        or adapter.get_relation(node.database, node.schema, node.alias) is not none}) %}
                    {%- if not known[parent] -%}
                        {% do missing.append(node.schema ~ '.' ~ node.alias) %}
                    {%- endif -%}
                {%- endif -%}
                {%- if not known[parent] and id not in tests -%}
                    {% do tests.append(id) %}
                {%- endif -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if tests -%}
        {% do exceptions.raise_compiler_error(
            tests | length ~ ' of the selected tests read tables that are not built and not selected: '
            ~ (missing | sort)[:5] | join(', ') ~ (', …' if missing | length > 5 else '')
            ~ '. Build these first, or leave such tests out: --indirect-selection buildable, or in dbt_project.yml'
            ~ ' flags: {indirect_selection: buildable}'
        ) %}
    {%- endif -%}
{% endmacro %}
