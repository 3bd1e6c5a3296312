{% macro check_tested_tables() %}
    {%- set tests, missing, known = [], [], {} -%}
    {%- for id in selected_resources if id in graph.nodes -%}
        {%- set test = graph.nodes[id] -%}
        {%- if test.package_name == 'tangles' and test.resource_type == 'test' -%}
            {#- In a build, tests against seeds and of foreign keys leave out tables that are missing (`keep_built`). -#}
            {%- set kind = (test.test_metadata or {}).get('name', test.name) -%}
            {%- set leaves_out = flags.WHICH == 'build' and (kind.startswith('matches_') or kind == 'foreign_keys_have_rows') -%}
            {%- for parent in test.depends_on.nodes
                if parent in graph.nodes and not (leaves_out and parent.startswith('model.')) -%}
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
                {%- if not known[parent] and test.name not in tests -%}
                    {% do tests.append(test.name) %}
                {%- endif -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if tests -%}
        {%- set some = (tests | sort)[:5] | join(' ') ~ (' …' if tests | length > 5 else '') -%}
        {% do exceptions.raise_compiler_error(
            tests | length ~ ' of the selected tests read tables that are not built and not selected: '
            ~ (missing | sort)[:5] | join(', ') ~ (', …' if missing | length > 5 else '')
            ~ '. Build these first, or leave such tests out: '
            ~ ('--exclude ' ~ some if flags.INDIRECT_SELECTION == 'buildable'
                else '--indirect-selection buildable, or in dbt_project.yml flags: {indirect_selection: buildable}')
        ) %}
    {%- endif -%}
{% endmacro %}
