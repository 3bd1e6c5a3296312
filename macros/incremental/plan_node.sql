{#- What this command does with the node that is being compiled or built: `action` is `reuse`, `rebuild` or `replace`. A model
    that is only compiled, or tested by a unit test, is planned in full. So is one of a build with `--empty` or `--sample`,
    whose tables lack rows: the next build does not go on from them. -#}
{% macro plan_node() %}
    {%- if adapter is not defined or not execute or model.resource_type == 'unit_test' or not adapter.is_planned()
        or flags.WHICH not in ['build', 'run', 'seed', 'retry'] or flags.EMPTY or flags.SAMPLE -%}
        {{ return({'action': 'rebuild', 'since': 0}) }}
    {%- endif -%}
    {{ return(adapter.plan(graph.nodes, model.unique_id, selected_resources, should_full_refresh())) }}
{% endmacro %}


{#- The condition that a row is of a group which changed since the table of this model was built; true in a full build.

    key: the column or expression that names the group of a row. versions: the model with the versions of groups.
    column: the column there that names a group. -#}
{% macro is_changed(key, versions, column='group_key') -%}
    {%- set plan = plan_node() -%}
    {%- if plan.action == 'replace' -%}
        coalesce({{ key }}, '') in (
            select coalesce({{ column }}, '') from {{ versions }} where version > {{ plan.since }}
        )
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}


{#- The model with the versions of the groups of a node, the column there that names a group, and the column or expression that
    names it in the node's own rows. -#}
{% macro group_columns(node) %}
    {%- set meta = node.config.meta -%}
    {%- for id in graph.nodes if graph.nodes[id].name == meta.group_versions and graph.nodes[id].resource_type == 'model' -%}
        {%- set versions = graph.nodes[id] -%}
        {%- set is_lines = versions.config.materialized == 'checked_lines' -%}
        {{ return({
            'versions': versions.relation_name,
            'column': meta.group_key if is_lines else 'group_key',
            'key': meta.group_key
        }) }}
    {%- endfor -%}
    {% do exceptions.raise_compiler_error(
        node.name ~ ': meta names no model of versions; say group_versions: <model> and group_key: <column>'
    ) %}
{% endmacro %}


{#- The rows of a model at which the test that is being compiled has to look: in a build those of groups that changed since it
    passed, and otherwise all. -#}
{% macro rows_to_test(relation) %}
    {%- set plan = tangles.plan_node() -%}
    {%- if plan.action != 'replace' -%}
        {{ return(relation) }}
    {%- endif -%}
    {%- set columns = tangles.group_columns(graph.nodes[model.attached_node]) -%}
    {{ return(
        '(select * from ' ~ relation ~ ' where ' ~ tangles.is_changed(columns.key, columns.versions, columns.column) ~ ')'
    ) }}
{% endmacro %}


{#- Whether rows with the same values of some columns are of the same group, in the model that is being tested. -#}
{% macro names_group(columns) %}
    {%- set node = graph.nodes.get(model.attached_node) if execute else none -%}
    {{ return(node is not none and node.config.meta.group_key in columns) }}
{% endmacro %}
