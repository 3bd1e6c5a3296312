{#- A project may change the materialization of whole folders, but not of models that set their own. -#}
{% macro check_materializations() %}
    {%- set refused, remedies = [], [] -%}
    {%- for node in graph.nodes.values() if node.package_name == 'tangles' and node.resource_type == 'model' -%}
        {%- set chosen = ['group_versions'] if 'check_lines(' in node.raw_code or 'group_versions(' in node.raw_code
            else ['replace_groups'] if 'earlier(spark, dbt.this)' in node.raw_code
            else modules.re.findall("materialized='([a-z_]+)'", node.raw_code) -%}
        {%- if chosen and node.config.materialized not in chosen + ['view', 'plain_table'] * (node.name == 'stg_tables__lines') -%}
            {% do refused.append(node.name ~ ' must be ' ~ chosen[0] ~ ', not ' ~ node.config.materialized) %}
            {% do remedies.append('{+materialized: ' ~ chosen[0] ~ '} for ' ~ node.fqn[1:] | join('.')) %}
        {%- endif -%}
    {%- endfor -%}
    {%- if refused -%}
        {% do exceptions.raise_compiler_error(
            'models of tangles with a materialization that they cannot have: ' ~ refused | join('; ')
            ~ '. In dbt_project.yml, below models: tangles:, say ' ~ remedies | join(', ')
        ) %}
    {%- endif -%}
{% endmacro %}
