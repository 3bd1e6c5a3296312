{#- Merges small files of the tables of Iceberg and Delta Lake, and deletes snapshots older than `keep_days` days:
    `dbt run-operation maintain_tables`. -#}
{% macro maintain_tables(keep_days=7) %}
    {%- set maintained = [] -%}
    {%- for node in graph.nodes.values() if node.resource_type in ['model', 'seed', 'snapshot'] -%}
        {%- set relation = api.Relation.create(schema=node.schema, identifier=node.alias, type='table') -%}
        {%- if adapter.maintain_table(relation, keep_days) -%}
            {% do maintained.append(node.name) %}
        {%- endif -%}
    {%- endfor -%}
    {% do print(maintained | length ~ ' tables maintained; snapshots of the last ' ~ keep_days ~ ' days are kept') %}
{% endmacro %}
