{#- Replaces a table that a hook writes, for readers and a killed run in one step. -#}
{% macro rebuild_atomically(relation, query, file_format='parquet') %}
    {%- if adapter.replaces_in_place(relation, file_format) -%}
        {% do run_query('create or replace table ' ~ relation ~ ' using ' ~ file_format ~ ' as ' ~ query) %}
    {%- else -%}
        {%- set next = sibling_relation(relation, 'next') -%}
        {% do adapter.drop_relation(next) %}
        {% do run_query('create table ' ~ next ~ ' using ' ~ file_format ~ ' as ' ~ query) %}
        {% do adapter.drop_relation(relation) %}
        {% do adapter.rename_relation(next, relation) %}
    {%- endif -%}
    {% do adapter.cache_added(relation.incorporate(type='table')) %}
    {% do adapter.publish(relation) %}
{% endmacro %}


{#- Recovers a table if a killed run left its replacement under the sibling name; returns whether the table exists now. -#}
{% macro recover_interrupted_swap(relation) %}
    {%- if adapter.get_relation(relation.database, relation.schema, relation.identifier) is not none -%}
        {{ return(true) }}
    {%- endif -%}
    {%- set sibling = sibling_relation(relation, 'next') -%}
    {%- set next = adapter.get_relation(sibling.database, sibling.schema, sibling.identifier) -%}
    {%- if next is none -%}
        {{ return(false) }}
    {%- endif -%}
    {% do adapter.rename_relation(next, relation) %}
    {{ return(true) }}
{% endmacro %}
