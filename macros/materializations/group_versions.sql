{#- The versions of groups, computed from the inputs and from the table's own earlier rows. -#}
{% materialization group_versions, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- set plan = tangles.plan_node() -%}
    {%- set new_relation = tangles.prepare_table(plan) -%}
    {%- if plan.action != 'reuse' -%}
        {#- This statement is repeated in each materialization: dbt submits Python only from the one that it called. -#}
        {%- call statement('main', language=model.language) -%}
            {{ create_table_as(False, new_relation, tangles.limit_to_changed_groups(plan), model.language) }}
        {%- endcall -%}
    {%- endif -%}
    {{ return(tangles.finish_table(plan, new_relation)) }}
{% endmaterialization %}
