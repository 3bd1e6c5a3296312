{#- The materializations of this project; `adapter.plan` decides what each of them does with its table. -#}

{#- A table with the rows of all groups: the rows of changed groups are replaced. -#}
{% materialization replace_groups, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- set plan = tangles.plan_node() -%}
    {%- set new_relation = tangles.prepare_table(plan) -%}
    {%- if plan.action != 'reuse' -%}
        {#- dbt submits Python only from a materialization that it has called itself. -#}
        {%- call statement('main', language=model.language) -%}
            {{ create_table_as(False, new_relation, tangles.code_of_groups(plan), model.language) }}
        {%- endcall -%}
    {%- endif -%}
    {{ return(tangles.finish_table(plan, new_relation)) }}
{% endmaterialization %}


{#- A table with the rows of changed groups alone, for the tables that are made of it. -#}
{% materialization working_set, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- set plan = tangles.plan_node() -%}
    {%- set new_relation = tangles.prepare_table(plan) -%}
    {%- if plan.action != 'reuse' -%}
        {#- dbt submits Python only from a materialization that it has called itself. -#}
        {%- call statement('main', language=model.language) -%}
            {{ create_table_as(False, new_relation, tangles.code_of_groups(plan), model.language) }}
        {%- endcall -%}
    {%- endif -%}
    {{ return(tangles.finish_table(plan, new_relation)) }}
{% endmaterialization %}


{#- A table of group versions, which is made of its inputs and of its own earlier rows. -#}
{% materialization group_versions, adapter='spark', supported_languages=['sql'] %}
    {%- set plan = tangles.plan_node() -%}
    {%- set new_relation = tangles.prepare_table(plan) -%}
    {%- if plan.action != 'reuse' -%}
        {#- dbt submits Python only from a materialization that it has called itself. -#}
        {%- call statement('main', language=model.language) -%}
            {{ create_table_as(False, new_relation, tangles.code_of_groups(plan), model.language) }}
        {%- endcall -%}
    {%- endif -%}
    {{ return(tangles.finish_table(plan, new_relation)) }}
{% endmaterialization %}


{#- The checked lines of a log, which are made of the log and of their own earlier rows. -#}
{% materialization checked_lines, adapter='spark', supported_languages=['python'] %}
    {%- set plan = tangles.plan_node() -%}
    {%- set new_relation = tangles.prepare_table(plan) -%}
    {%- if plan.action != 'reuse' -%}
        {#- dbt submits Python only from a materialization that it has called itself. -#}
        {%- call statement('main', language=model.language) -%}
            {{ create_table_as(False, new_relation, tangles.code_of_groups(plan), model.language) }}
        {%- endcall -%}
    {%- endif -%}
    {{ return(tangles.finish_table(plan, new_relation)) }}
{% endmaterialization %}


{#- dbt's own, for tables without groups. -#}
{% materialization table, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- set plan = tangles.plan_node() -%}
    {%- set new_relation = tangles.prepare_table(plan) -%}
    {%- if plan.action != 'reuse' -%}
        {#- dbt submits Python only from a materialization that it has called itself. -#}
        {%- call statement('main', language=model.language) -%}
            {{ create_table_as(False, new_relation, tangles.code_of_groups(plan), model.language) }}
        {%- endcall -%}
    {%- endif -%}
    {{ return(tangles.finish_table(plan, new_relation)) }}
{% endmaterialization %}


{% materialization seed, adapter='spark' %}
    {%- set plan = tangles.plan_node() -%}
    {% do adapter.begin_table(this, model.unique_id, none) %}
    {%- if plan.action == 'reuse' -%}
        {% do store_result('agate_table', response='OK', agate_table=none) %}
        {{ return(tangles.finish_table(plan, none)) }}
    {%- endif -%}
    {{ return(dbt.materialization_seed_default()) }}
{% endmaterialization %}


{% materialization test, adapter='spark' %}
    {%- set plan = tangles.plan_node() -%}
    {%- if plan.action == 'reuse' -%}
        {% do store_raw_result(
            'main', message='unchanged', code='unchanged', rows_affected=0, agate_table=adapter.passing_result()
        ) %}
        {{ return({'relations': []}) }}
    {%- endif -%}
    {{ return(dbt.materialization_test_default()) }}
{% endmaterialization %}


{#- Begins a node's table; returns the relation to create: the table itself, or one beside it, where the earlier rows are read
    or go on. -#}
{% macro prepare_table(plan) %}
    {%- if plan.reason -%}
        {% do adapter.log_rebuild(model.name, plan.reason) %}
    {%- endif -%}
    {% do adapter.begin_table(this, model.unique_id, tangles.counted_key_columns()) %}
    {%- if plan.action == 'reuse' -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set kind, is_history = model.config.materialized, config.meta_get('is_history') -%}
    {%- if model.language == 'python' -%}
        {% do adapter.set_since(this, plan.since if plan.action == 'replace' and config.meta_get('group_versions') else 0) %}
    {%- endif -%}
    {{ run_hooks(pre_hooks) }}
    {%- set goes_on = plan.action == 'replace' and kind in ['replace_groups', 'group_versions', 'checked_lines'] -%}
    {%- if is_history and not should_full_refresh() -%}
        {%- set goes_on = tangles.recover_interrupted_swap(this) -%}
    {%- endif -%}
    {%- set new_relation = tangles.beside(this, 'next') if goes_on else this.incorporate(type='table') -%}
    {% do tangles.drop_known(new_relation) %}
    {{ return(new_relation) }}
{% endmacro %}


{#- The code of the node that is built; of a table in which changed groups are replaced, for the rows of these alone. A Python
    model leaves the others out itself, by `earlier.only_changed`. -#}
{% macro code_of_groups(plan) %}
    {%- if plan.action != 'replace' or model.language == 'python' or model.config.materialized != 'replace_groups' -%}
        {{ return(compiled_code) }}
    {%- endif -%}
    {%- set columns = tangles.group_columns(model) -%}
    {{ return(
        'select * from (' ~ compiled_code ~ ') where ' ~ tangles.is_changed(columns.key, columns.versions, columns.column)
    ) }}
{% endmacro %}


{#- Ends a node's table: what was created beside it takes its place, completed by the rows of groups that did not change. -#}
{% macro finish_table(plan, new_relation) %}
    {%- set target_relation, kind = this.incorporate(type='table'), model.config.materialized -%}
    {%- if plan.action == 'reuse' -%}
        {% do adapter.reuse_table(this) %}
        {% do store_raw_result('main', message='unchanged', code='unchanged', rows_affected=0) %}
        {{ return({'relations': [target_relation]}) }}
    {%- endif -%}
    {%- if plan.action == 'replace' and kind == 'replace_groups' -%}
        {%- set columns = tangles.group_columns(model) -%}
        {% do adapter.replace_groups(this, new_relation, columns.key, columns.versions, columns.column) %}
    {%- endif -%}
    {%- if new_relation.identifier != this.identifier -%}
        {% do tangles.drop_known(this) %}
        {% do adapter.rename_relation(new_relation, target_relation) %}
    {%- endif -%}
    {%- if kind in ['group_versions', 'checked_lines'] -%}
        {%- for row in run_query('select min(version), max(version) from ' ~ target_relation) -%}
            {% do adapter.record_versions(this, row[0] if kind == 'checked_lines' else 0, row[1]) %}
        {%- endfor -%}
    {%- endif -%}
    {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
    {% do persist_docs(target_relation, model) %}
    {% do persist_constraints(target_relation, model) %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target_relation]}) }}
{% endmacro %}
