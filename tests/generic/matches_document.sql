{#- Of a statement of a document's examples, the model has every row, no other, and all the same. The arguments are
    those of `compare_statement`; the condition on the model's rows is dbt's own `where`. In a build that leaves the
    model out, the test finds no row. -#}
{% test matches_document(
    model, expected, statement, columns, names=none, lists={}, rows='true', only={}, examples=none, stated_by=[]
) %}
{{ config(tags=['skips_missing_tables']) }}
{%- if tangles.keep_built([{'table': tangles.attached_table()}]) %}
{{ tangles.compare_statement(model, expected, {
    'statement': statement,
    'columns': columns,
    'names': names,
    'lists': lists,
    'rows': rows,
    'only': only,
    'examples': examples,
    'stated_by': stated_by,
}) }}
{%- else %}
{{ tangles.select_no_rows({'statement': 'string'}) }}
{%- endif %}
{% endtest %}
