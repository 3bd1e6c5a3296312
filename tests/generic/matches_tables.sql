{#-
The tables have exactly the rows that the statements of a seed state, with the same values. A failure is a statement, the
side with more copies of a row, and the compared columns as JSON.

statements: For each its `table` and the arguments of `compare_statement`. Statements with `enabled` false are left out,
    and in a build those whose table is neither built nor selected.
-#}
{% test matches_tables(model, statements) %}
{{ config(tags=['skips_missing_tables']) }}
{%- for each in tangles.keep_built(statements) if each.get('enabled', true) %}
{%- if not loop.first %}

union all
{% endif %}
-- {{ each.statement }} in {{ each.table }}
select
    '{{ each.statement }}' as statement,
    side,
    to_json(struct(*)) as differing_row
from (
    {{- tangles.compare_statement(each.table, model, each) | indent }}
)
{%- else %}
{{ tangles.select_no_rows({'statement': 'string'}) }}
{%- endfor %}
{% endtest %}
