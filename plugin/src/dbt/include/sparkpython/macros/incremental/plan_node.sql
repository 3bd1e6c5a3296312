{#- The plan for the node that is being compiled or built; its `action` is `reuse`, `rebuild` or `replace`.

    The plan is a full rebuild if the model is only compiled or unit-tested, and in builds with `--empty` or `--sample`: their
    tables lack rows, so later builds do not continue from them. -#}
{% macro plan_node() %}
    {%- if adapter is not defined or not execute or model.resource_type == 'unit_test' or not adapter.is_planned()
        or flags.WHICH not in ['build', 'run', 'seed', 'retry'] or flags.EMPTY or flags.SAMPLE -%}
        {{ return({'action': 'rebuild', 'since': 0}) }}
    {%- endif -%}
    {{ return(adapter.plan(
        graph.nodes, model.unique_id, selected_resources, should_full_refresh(), var('incremental_from', 0)
    )) }}
{% endmacro %}


{#- The condition that a row's group has changed since this model's table was built; true in a full build. Spark estimates the
    keys of the changed groups by the whole table of versions; if they are few, a hint spares the shuffle of the rows.

    key: the column or expression that names a row's group. versions: the model with the versions of groups.
    column: the column of that model that names a group. -#}
{% macro is_changed(key, versions, column='group_key') -%}
    {%- set plan = plan_node() -%}
    {%- if plan.action == 'replace' -%}
        coalesce(cast({{ key }} as string), '') in (
            select
            {%- if adapter.are_few_changed(versions, column, plan.since) %} /*+ broadcast(changed) */ {%- endif %}
                coalesce(cast({{ column }} as string), '')
            from {{ versions }} as changed
            where version > {{ plan.since }}
        )
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}


{#- The condition that a line belongs to a changed group, in a model with a row for each group of its lines. If the model's
    table has no row of a changed group, only new lines are in these groups, and engines skip the files of all others. -#}
{% macro is_changed_line() -%}
    {%- set plan = plan_node() -%}
    {%- set columns = group_columns(model) if plan.action == 'replace' else none -%}
    {%- if columns and adapter.are_new_groups(this, columns, plan.since) -%}
        version > {{ plan.since }}
    {%- elif columns -%}
        {{ is_changed(columns.key, columns.versions, columns.column) }}
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}


{#- Where a node's groups are named: `versions` is the model with their versions, `column` its column that names a group, and
    `key` the column or expression that names the group of the node's own rows. -#}
{% macro group_columns(node) %}
    {%- set meta = node.config.meta -%}
    {%- for id in graph.nodes if graph.nodes[id].name == meta.group_versions and graph.nodes[id].resource_type == 'model' -%}
        {%- set versions = graph.nodes[id] -%}
        {{ return({
            'versions': adapter.name_read(versions),
            'column': meta.group_key if versions.config.meta.row_versions else 'group_key',
            'key': meta.group_key,
            'are_lines': versions.config.meta.row_versions or false
        }) }}
    {%- endfor -%}
    {% do exceptions.raise_compiler_error(
        node.name ~ ' lacks a model of group versions: set group_versions: <model> and group_key: <column> in its meta'
    ) %}
{% endmacro %}


{#- The rows of a model that the current test reads: in a build, the rows of groups that changed since it passed; else all. -#}
{% macro rows_to_test(relation) %}
    {%- set plan = plan_node() -%}
    {%- if plan.action != 'replace' -%}
        {{ return(relation) }}
    {%- endif -%}
    {%- set columns = group_columns(graph.nodes[model.attached_node]) -%}
    {{ return(
        '(select * from ' ~ relation ~ ' where ' ~ is_changed(columns.key, columns.versions, columns.column) ~ ')'
    ) }}
{% endmacro %}


{#- Whether rows of the tested model with equal values of these columns belong to the same group. -#}
{% macro is_group_key(columns) %}
    {%- set node = graph.nodes.get(model.attached_node) if execute else none -%}
    {{ return(node is not none and node.config.meta.group_key in columns) }}
{% endmacro %}
