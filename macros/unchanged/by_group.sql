{#- Tables that SQL makes group by group, and tests that look at groups: those that are touched alone. -#}

{#- Of the inputs of the model being made the rows of those groups that have to be made again, as `adapter.touched_groups` has
    them, or none where it is made whole. -#}
{% macro touched_groups() %}
    {%- set by_group = config.meta_get('by_group') -%}
    {%- if not by_group or should_full_refresh() -%}
        {{ return(none) }}
    {%- endif -%}
    {{ return(adapter.touched_groups(
        this, by_group['keys'], tangles.grouped_relations(by_group['of']), compiled_code
    )) }}
{% endmacro %}


{#- Lets a Python model know the groups of its rows that have to be made again, where it says how they are named. -#}
{% macro tell_touched() %}
    {%- set by_group = config.meta_get('by_group') -%}
    {%- if by_group -%}
        {% do adapter.tell_touched(this, by_group['keys'], tangles.grouped_relations(by_group['of'])) %}
    {%- endif -%}
{% endmacro %}


{#- Makes a table of what it is, and of its query over the rows of touched groups: where no row of them is gone, the new ones
    are added to the files that are there. What was made of them stays until it is published: it is compared then. -#}
{% macro make_touched_groups(parts) %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set made, next = tangles.beside(this, 'made'), tangles.beside(this, 'next') -%}
    {%- set columns = adapter.get_columns_in_relation(this) | map(attribute='quoted') | join(', ') -%}
    {{ run_hooks(pre_hooks) }}
    {% do tangles.drop_known(made) %}
    {%- call statement('main') -%}
        {{ create_table_as(False, made, tangles.over_parts(compiled_code, parts)) }}
    {%- endcall -%}
    {%- set change = adapter.take_groups(this, made) -%}
    {%- if change.added -%}
        {%- call statement('add') -%}
            insert into {{ this }} select {{ columns }} from {{ change.added }}
        {%- endcall -%}
    {%- elif change.others -%}
        {% do tangles.drop_known(next) %}
        {%- call statement('copy') -%}
            {{ create_table_as(False, next,
                'select ' ~ columns ~ ' from ' ~ change.others ~ ' union all select ' ~ columns ~ ' from ' ~ made) }}
        {%- endcall -%}
        {% do tangles.drop_known(this) %}
        {% do adapter.rename_relation(next, target_relation) %}
    {%- endif -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target_relation]} if change else tangles.leave()) }}
{% endmacro %}


{#- The query of the test being run over touched groups alone, or none where it has to look at everything. -#}
{% macro query_over_touched() %}
    {%- if flags.WHICH not in ['build', 'retry'] or should_full_refresh() or should_store_failures() -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set by_group = tangles.groups_of_test() -%}
    {%- if not by_group -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set parts = adapter.touched_since_passed(
        model.schema, model.unique_id, by_group['keys'], tangles.grouped_relations(by_group['of'])
    ) -%}
    {{ return(none if parts is none else tangles.over_parts(compiled_code, parts)) }}
{% endmacro %}


{#- How a test looks at groups: as its `meta` says; a test of unique rows by a column that is in each of its keys and that its
    model tells of. -#}
{% macro groups_of_test() %}
    {%- if config.meta_get('by_group') or not model.test_metadata or not model.attached_node -%}
        {{ return(config.meta_get('by_group')) }}
    {%- endif -%}
    {%- set node = graph.nodes[model.attached_node] -%}
    {%- set keys = tangles.unique_keys(model.test_metadata) -%}
    {%- if keys and node.config.materialized not in ['view', 'ephemeral'] and not config.get('where')
        and 'select' not in tojson(model.test_metadata) | lower -%}
        {%- for column in tangles.told_columns(node) -%}
            {%- set with_column = [] -%}
            {%- for key in keys if column in key -%}
                {% do with_column.append(key) %}
            {%- endfor -%}
            {%- if with_column == keys -%}
                {{ return({'keys': [column], 'of': {node.name: [column]}}) }}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(none) }}
{% endmacro %}


{#- The combinations of columns that a generic test says to be unique, the primary key first; none of a test without any. -#}
{% macro unique_keys(test_metadata) %}
    {%- set given = test_metadata.kwargs.arguments or test_metadata.kwargs -%}
    {%- set keys = [] -%}
    {%- if test_metadata.name == 'unique' -%}
        {% do keys.append([test_metadata.kwargs.column_name]) %}
    {%- elif test_metadata.name == 'row_rules' -%}
        {%- for key in ([given.primary_key] if given.primary_key else []) + (given.unique or []) -%}
            {% do keys.append(key.columns or key) %}
        {%- endfor -%}
    {%- endif -%}
    {{ return(keys) }}
{% endmacro %}


{#- The columns of which a model tells the values in the rows that differ: those that name groups of it, or of what is made of
    it group by group. -#}
{% macro told_columns(node) %}
    {%- set columns = [] -%}
    {%- for other in graph.nodes.values() if other.unique_id == node.unique_id or node.unique_id in other.depends_on.nodes -%}
        {%- set by_group = (other.config.meta or {}).get('by_group') -%}
        {%- if by_group -%}
            {% do columns.extend(by_group['keys'] if other.unique_id == node.unique_id else by_group['of'].get(node.name, [])) %}
        {%- endif -%}
    {%- endfor -%}
    {{ return(columns | unique | list) }}
{% endmacro %}


{#- Has a table that is published tell what differs, where somebody asks. -#}
{% macro tell_changes() %}
    {%- set columns = tangles.told_columns(model) -%}
    {%- if columns -%}
        {% do adapter.tell_changes(this, columns, config.get('materialized') == 'republished') %}
    {%- endif -%}
{% endmacro %}


{#- The relations of these inputs of the node being made, with their columns that name groups. -#}
{% macro grouped_relations(of) %}
    {%- set relations = {} -%}
    {%- for id in model.depends_on.nodes if graph.nodes[id].name in of -%}
        {% do relations.update({graph.nodes[id].relation_name: of[graph.nodes[id].name]}) %}
    {%- endfor -%}
    {{ return(relations) }}
{% endmacro %}


{#- A query that reads, of some relations, views of a part of their rows. -#}
{% macro over_parts(query, parts) %}
    {%- set state = namespace(query=query) -%}
    {%- for relation, part in parts.items() -%}
        {%- set name = '(?<![\\w.`])' ~ modules.re.escape(relation) ~ '(?![\\w.`])' -%}
        {%- set state.query = modules.re.sub(name, part, state.query) -%}
    {%- endfor -%}
    {{ return(state.query) }}
{% endmacro %}
