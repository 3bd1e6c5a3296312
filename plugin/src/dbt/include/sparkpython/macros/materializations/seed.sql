{#- dbt's `seed`, reused while its file and settings are unchanged. -#}
{% materialization seed, adapter='sparkpython' %}
    {%- set plan = plan_node() -%}
    {% do adapter.begin_table(this, model.unique_id, none) %}
    {%- if plan.action == 'reuse' -%}
        {% do store_result('agate_table', response='OK', agate_table=none) %}
        {{ return(finish_table(plan, none)) }}
    {%- endif -%}
    {{ return(dbt.materialization_seed_default()) }}
{% endmaterialization %}
