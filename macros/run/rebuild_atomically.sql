{% macro rebuild_atomically(relation, query, file_format='parquet') %}
    {%- if adapter.replaces_in_place(relation, file_format) -%}
        {% do run_query('create or replace table ' ~ relation ~ ' using ' ~ file_format ~ ' as ' ~ query) %}
    {%- else -%}
        {%- set next = tangles.sibling_relation(relation, 'next') -%}
        {% do adapter.drop_relation(next) %}
        {% do run_query('create table ' ~ next ~ ' using ' ~ file_format ~ ' as ' ~ query) %}
        {% do adapter.drop_relation(relation) %}
        {% do adapter.rename_relation(next, relation) %}
    {%- endif -%}
    {% do adapter.cache_added(relation.incorporate(type='table')) %}
    {% do adapter.publish(relation) %}
{% endmacro %}


{% macro recover_interrupted_swap(relation) %}
    {%- if adapter.get_relation(relation.database, relation.schema, relation.identifier) is not none -%}
        {{ return(true) }}
    {%- endif -%}
    {%- set sibling = tangles.sibling_relation(relation, 'next') -%}
    {%- set next = adapter.get_relation(sibling.database, sibling.schema, sibling.identifier) -%}
    {%- if next is none -%}
        {{ return(false) }}
    {%- endif -%}
    {% do adapter.rename_relation(next, relation) %}
    {{ return(true) }}
{% endmacro %}
