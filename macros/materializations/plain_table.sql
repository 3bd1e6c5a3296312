{#- A table without groups, made like dbt-spark's `table`, and reused while its definition and inputs are unchanged. It has a
    name of its own, because dbt takes `table` from the installing project. -#}
{% materialization plain_table, adapter='spark', supported_languages=['sql', 'python'] %}
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
