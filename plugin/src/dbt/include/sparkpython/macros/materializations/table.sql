{#- dbt's `table`, made anew in each build. -#}
{% materialization table, adapter='sparkpython', supported_languages=['sql', 'python'] %}
    {%- set plan = {'action': 'rebuild'} -%}
    {%- set new_relation = prepare_table(plan) -%}
    {%- call statement('main', language=model.language) -%}
        {{ create_table_as(False, new_relation, compiled_code, model.language) }}
    {%- endcall -%}
    {{ return(finish_table(plan, new_relation)) }}
{% endmaterialization %}
