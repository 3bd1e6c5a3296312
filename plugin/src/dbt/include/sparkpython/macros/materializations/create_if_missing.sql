{#- Creates a table that hooks write to, if it does not exist; an existing one stays. -#}
{% materialization create_if_missing, adapter='sparkpython', supported_languages=['sql'] %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {{ run_hooks(pre_hooks) }}
    {%- set is_missing = load_cached_relation(this) is none -%}
    {%- call statement('main') -%}
        {{ create_table_as(False, target_relation, compiled_code) if is_missing else 'select 1' }}
    {%- endcall -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
