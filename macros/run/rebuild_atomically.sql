{#- A table made anew from a query that may read it. Where tables are folders it is the old one until it is the new one;
    elsewhere a kill between the two last statements leaves the new one under the other name, where it is found. -#}
{% macro rebuild_atomically(relation, query, file_format='parquet') %}
    {%- set next = tangles.sibling_relation(relation, 'next') -%}
    {% do adapter.drop_relation(next) %}
    {% do run_query('create table ' ~ next ~ ' using ' ~ file_format ~ ' as ' ~ query) %}
    {% do adapter.drop_relation(relation) %}
    {% do adapter.rename_relation(next, relation) %}
    {% do adapter.cache_added(relation.incorporate(type='table')) %}
    {% do adapter.publish(relation) %}
{% endmacro %}


{#- Brings back a table that was being replaced, by `rebuild_atomically` or as a table that goes on, when the run was killed, and has its other
    name still; returns whether there is one now. -#}
{% macro recover_interrupted_swap(relation) %}
    {%- if adapter.get_relation(relation.database, relation.schema, relation.identifier) is not none -%}
        {{ return(true) }}
    {%- endif -%}
    {%- set beside = tangles.sibling_relation(relation, 'next') -%}
    {%- set next = adapter.get_relation(beside.database, beside.schema, beside.identifier) -%}
    {%- if next is none -%}
        {{ return(false) }}
    {%- endif -%}
    {% do adapter.rename_relation(next, relation) %}
    {{ return(true) }}
{% endmacro %}
