{#- Creates a table that hooks write to, if it does not exist; an existing one stays. -#}
{% materialization create_if_missing, adapter='sparkpython', supported_languages=['sql'] %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {{ run_hooks(pre_hooks) }}
    {%- if load_relation(this) is none -%}
        {%- call statement('main') -%}
            {{ create_table_as(False, target_relation, compiled_code) }}
        {%- endcall -%}
    {%- else -%}
        {%- call statement('main') -%}
            select 1
        {%- endcall -%}
    {%- endif -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
