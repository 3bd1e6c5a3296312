{#- The rows of changed groups only, for the tables downstream. -#}
{% materialization working_set, adapter='spark', supported_languages=['sql', 'python'] %}
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
