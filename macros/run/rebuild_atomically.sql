{#- Rebuilds a table from a query that may read it. In a folder warehouse the new table replaces the old one in one step.
    Elsewhere, a kill between the last two statements leaves the new table under its sibling name, and
    `recover_interrupted_swap` finds it there. -#}
{% macro rebuild_atomically(relation, query, file_format='parquet') %}
    {%- set next = tangles.sibling_relation(relation, 'next') -%}
    {% do adapter.drop_relation(next) %}
    {% do run_query('create table ' ~ next ~ ' using ' ~ file_format ~ ' as ' ~ query) %}
    {% do adapter.drop_relation(relation) %}
    {% do adapter.rename_relation(next, relation) %}
    {% do adapter.cache_added(relation.incorporate(type='table')) %}
    {% do adapter.publish(relation) %}
{% endmacro %}


{#- Recovers a table if a killed run left its replacement under the sibling name; returns whether the table exists now. -#}
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
