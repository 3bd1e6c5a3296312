{#- dbt's own materializations, where the table or the success of the test does not stand already. -#}

{% materialization table, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- if tangles.is_unchanged() -%}
        {{ return(tangles.leave()) }}
    {%- endif -%}
    {% do tangles.count_changes() %}
    {%- if model.language == 'sql' -%}
        {%- set parts = tangles.touched_groups() -%}
        {{ return(dbt.materialization_table_spark() if parts is none else tangles.make_touched_groups(parts)) }}
    {%- endif -%}
    {#- dbt submits Python only from a materialization that it has called itself; so here is what dbt-spark's does. -#}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set old_relation = load_relation(this) -%}
    {{ run_hooks(pre_hooks) }}
    {%- if old_relation is not none and not (
        (old_relation.is_delta and config.get('file_format') == 'delta')
        or (old_relation.is_iceberg and config.get('file_format') == 'iceberg')
    ) -%}
        {% do adapter.drop_relation(old_relation) %}
    {%- endif -%}
    {%- call statement('main', language='python') -%}
        {{ create_table_as(False, target_relation, compiled_code, 'python') }}
    {%- endcall -%}
    {% do apply_grants(target_relation, config.get('grants'), should_revoke(old_relation, full_refresh_mode=True)) %}
    {% do persist_docs(target_relation, model) %}
    {% do persist_constraints(target_relation, model) %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{#- A table made of its inputs and of what it was before. Made of the same inputs it has to come out the same: then it is left
    as it stands. The model finds what it was before by its name: nothing with --full-refresh, nor where that was made in
    another way, unless the model is a history (`meta: is_history`), whose rows tell of the runs. So it does the groups of its
    rows that have to be made again, if it says how they are named (`meta: by_group`). -#}
{% materialization republished, adapter='spark', supported_languages=['python'] %}
    {%- if tangles.is_unchanged() -%}
        {{ return(tangles.leave()) }}
    {%- endif -%}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set next = tangles.beside(this, 'next') -%}
    {{ run_hooks(pre_hooks) }}
    {%- if should_full_refresh() -%}
        {% do tangles.drop_known(this) %}
    {%- else -%}
        {% do tangles.find_remade(this) %}
        {% do tangles.drop_other_way(this) %}
        {% do tangles.tell_touched() %}
    {%- endif -%}
    {% do tangles.drop_known(next) %}
    {%- call statement('main', language='python') -%}
        {{ create_table_as(False, next, compiled_code, 'python') }}
    {%- endcall -%}
    {% do tangles.drop_known(this) %}
    {% do adapter.rename_relation(next, target_relation) %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{#- Drops a table that was made in another way than it would be now, which is said; of a history nothing. -#}
{% macro drop_other_way(relation) %}
    {%- if not config.meta_get('is_history') and load_relation(relation) is not none -%}
        {%- set is_of_this_way = adapter.is_of_this_way(relation) -%}
        {%- if is_of_this_way == false -%}
            {% do print(
                model.name ~ ' is made anew: its way of being made (code, settings, versions) has changed, or its files were'
                ~ ' changed from outside'
            ) %}
        {%- endif -%}
        {%- if not is_of_this_way -%}
            {% do tangles.drop_known(relation) %}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}


{% materialization seed, adapter='spark' %}
    {%- if tangles.is_unchanged() -%}
        {% do store_result('agate_table', response='OK', agate_table=none) %}
        {{ return(tangles.leave()) }}
    {%- endif -%}
    {{ return(dbt.materialization_seed_default()) }}
{% endmaterialization %}


{% materialization test, adapter='spark' %}
    {%- if tangles.is_unchanged() -%}
        {{ return(tangles.leave()) }}
    {%- endif -%}
    {%- set query = tangles.query_over_touched() -%}
    {%- if query is none -%}
        {{ return(dbt.materialization_test_default()) }}
    {%- endif -%}
    {%- call statement('main', fetch_result=True) -%}
        {{ get_test_sql(
            get_limit_subquery_sql(query, config.get('limit')), config.get('fail_calc'), config.get('warn_if'),
            config.get('error_if'), config.get('limit')
        ) }}
    {%- endcall -%}
    {{ return({'relations': []}) }}
{% endmaterialization %}


{% materialization unit, adapter='spark' %}
    {{ return(tangles.leave() if tangles.is_unchanged() else dbt.materialization_unit_default()) }}
{% endmaterialization %}


{#- What a materialization returns whose node is left as it stands. -#}
{% macro leave() %}
    {%- set is_test = model.resource_type in ['test', 'unit_test'] -%}
    {% do store_raw_result(
        'main', message='unchanged', code='unchanged', rows_affected=0,
        agate_table=adapter.rows_of_pass(model.resource_type == 'unit_test') if is_test else none
    ) %}
    {{ return({'relations': [] if is_test else [this.incorporate(type='table')]}) }}
{% endmacro %}
