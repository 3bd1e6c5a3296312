{#- Prepares the build of a node's table according to its plan.

    Returns the relation to create: the table itself, or a sibling if the table's earlier rows are still needed and the table
    is not replaced in one commit. Null if the table is reused. -#}
{% macro prepare_table(plan) %}
    {%- set columns = group_columns(model) if plan.action == 'replace' and config.meta_get('group_versions') else none -%}
    {% do adapter.begin_table(this, model.unique_id, counted_key_columns(), columns) %}
    {%- if plan.action == 'reuse' -%}
        {{ return(none) }}
    {%- endif -%}
    {{ run_hooks(pre_hooks) }}
    {%- set needs_earlier_rows = plan.action == 'replace' and plan.holds in ['all_groups', 'versions'] -%}
    {%- if config.meta_get('is_history') -%}
        {%- set needs_earlier_rows = has_earlier_rows() -%}
    {%- endif -%}
    {%- if model.language == 'python' -%}
        {% do adapter.plan_python_model(this, needs_earlier_rows) %}
    {%- endif -%}
    {%- if adapter.replaces_in_place(this, config.get('file_format')) -%}
        {{ return(this.incorporate(type='table')) }}
    {%- endif -%}
    {%- set new_relation = adapter.sibling_of(this) if needs_earlier_rows else this.incorporate(type='table') -%}
    {% do drop_relation_if_exists(load_cached_relation(new_relation)) %}
    {{ return(new_relation) }}
{% endmacro %}


{#- Whether the current node has rows of an earlier run to continue from, for a table with a history. -#}
{% macro has_earlier_rows() %}
    {{ return(
        execute and flags.WHICH in ['build', 'run', 'retry'] and not should_full_refresh()
        and adapter.recover_interrupted_swap(this)
    ) }}
{% endmacro %}


{#- The node's compiled code. If the groups of a complete table are replaced, it is limited to the rows of changed groups, and
    kept rows of other groups are added. A Python model limits its rows itself, by `earlier.only_changed`. -#}
{% macro limit_to_changed_groups(plan, new_relation) %}
    {%- if plan.action != 'replace' or model.language == 'python' or plan.holds != 'all_groups' -%}
        {{ return(compiled_code) }}
    {%- endif -%}
    {%- set columns = group_columns(model) -%}
    {{ return(adapter.add_kept_rows(
        this,
        new_relation,
        'select * from (' ~ compiled_code ~ ') where ' ~ is_changed(columns.key, columns.versions, columns.column)
    )) }}
{% endmacro %}


{#- Ends the build of a node's table: moves a sibling to the node's name. -#}
{% macro finish_table(plan, new_relation) %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- if plan.action == 'reuse' -%}
        {% do store_raw_result('main', message='unchanged', code='unchanged', rows_affected=0) %}
        {{ return({'relations': [target_relation]}) }}
    {%- endif -%}
    {%- if new_relation.identifier != this.identifier -%}
        {% do adapter.link_kept_rows(this, new_relation) %}
        {% do drop_relation_if_exists(load_cached_relation(this)) %}
        {% do adapter.rename_relation(new_relation, target_relation) %}
    {%- endif -%}
    {%- if plan.holds == 'versions' -%}
        {%- for row in run_query('select min(version), max(version) from ' ~ target_relation) -%}
            {% do adapter.record_versions(this, row[0] if config.meta_get('row_versions') else 0, row[1]) %}
        {%- endfor -%}
    {%- endif -%}
    {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
    {% do persist_docs(target_relation, model) %}
    {% do persist_constraints(target_relation, model) %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target_relation]}) }}
{% endmacro %}
