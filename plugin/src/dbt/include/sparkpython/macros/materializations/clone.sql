{#- dbt's `clone`. In a warehouse of folders, it copies a table by links to its files, with its origin: the next build continues
    from the copy. -#}
{% materialization clone, adapter='sparkpython' %}
    {%- if adapter.warehouse_path() is none or not defer_relation or (load_cached_relation(this) and not flags.FULL_REFRESH) -%}
        {{ return(dbt.materialization_clone_spark()) }}
    {%- endif -%}
    {%- set source = load_cached_relation(defer_relation) -%}
    {%- if source is not none and source.type == 'view' -%}
        {{ return(dbt.materialization_view_spark()) }}
    {%- endif -%}
    {%- if not adapter.clone_table(this, defer_relation) -%}
        {% do exceptions.raise_compiler_error(
            defer_relation ~ ' is not a complete parquet table of this warehouse: build it again, or leave a table of Delta Lake out'
            ~ ' with --exclude ' ~ model.name
        ) %}
    {%- endif -%}
    {% do store_raw_result('main', message='cloned', code='cloned', rows_affected=0) %}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}
