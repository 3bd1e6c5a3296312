{#- A table that a build reuses, replaces in part, or rebuilds, as `adapter.plan` decides. `meta` says which rows it has:

    * without `group_versions`, it is a table without groups, reused while its definition and inputs are unchanged;
    * `group_versions: <model>` and `group_key: <column>` name the model with the versions of its groups, and the column that
      names a row's group. The table has the rows of all groups, and a build replaces those of changed groups;
    * with `holds: changed_groups` besides, it has only the rows of the groups that the tables downstream still lack;
    * `holds: versions` marks a table of group versions, written by the macro `group_versions`. With `row_versions: true`
      each row is a group of its own, and the model writes the column `version` itself;
    * with `is_history: true`, a build reads the table's own earlier rows, also where it rebuilds the table. -#}
{% materialization incremental_groups, adapter='sparkpython', supported_languages=['sql', 'python'] %}
    {%- set plan = plan_node() -%}
    {%- set new_relation = prepare_table(plan) -%}
    {%- if plan.action != 'reuse' -%}
        {%- set query = limit_to_changed_groups(plan, new_relation) -%}
        {%- call statement('main', language=model.language) -%}
            {%- if adapter.is_grown(this) and new_relation.identifier == this.identifier -%}
                insert into {{ this }} {{ query }}
            {%- else -%}
                {{ create_table_as(False, new_relation, query, model.language) }}
            {%- endif -%}
        {%- endcall -%}
    {%- endif -%}
    {{ return(finish_table(plan, new_relation)) }}
{% endmaterialization %}
