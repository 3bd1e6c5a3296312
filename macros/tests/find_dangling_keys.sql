{#- The rows whose foreign key names no row of another table. A key with a null names no row, and is right. -#}
{% macro find_dangling_keys(relation, columns, target, target_columns) -%}
select
    {{ string_literal(relation.identifier ~ ' (' ~ columns | join(', ') ~ '): ' ~ target.identifier) }} as broken_key,
    to_json(struct({% for column in columns %}referring.{{ column }}{{ ', ' if not loop.last }}{% endfor %})) as failing_row
from {{ relation }} as referring
left anti join {{ target }} as referred
    on
    {%- for column in columns %}
        {{ 'and ' if not loop.first }}referring.{{ column }} = referred.{{ target_columns[loop.index0] }}
    {%- endfor %}
where
    {%- for column in columns %}
    {{ 'and ' if not loop.first }}referring.{{ column }} is not null
    {%- endfor %}
{%- endmacro %}


{#- The same for each foreign key of the models whose tables there are. The caller refers to the tables. -#}
{% macro find_all_dangling_keys() %}
    {%- set keys, tables, queries = [], {}, [] -%}
    {%- for node in (graph.nodes.values() if execute else []) if node.resource_type == 'model' -%}
        {%- for constraint in node.constraints if constraint.type == 'foreign_key' -%}
            {% do keys.append({'of': node.name, 'columns': constraint.columns, 'to': constraint.expression}) %}
            {%- for name in [node.name, constraint.expression] -%}
                {% do tables.update({name: {'name': name, 'table': ref(name)}}) %}
            {%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set built = keep_built(tables.values() | list) | map(attribute='name') | list -%}
    {%- for key in keys if key.of in built and key.to in built -%}
        {% do queries.append(find_dangling_keys(
            tables[key.of].table, key.columns, tables[key.to].table, key_columns_of(graph.nodes['model.tangles.' ~ key.to])
        )) %}
    {%- endfor -%}
    {{ return(queries | join('\n\nunion all\n\n')) }}
{% endmacro %}
