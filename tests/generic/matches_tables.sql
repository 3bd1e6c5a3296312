{#-
Of the statements of a seed, the tables that they are about have every row, no other, and all the same. A failure is a
statement, the side that has a row more often, and the columns that are compared, as JSON.

statements: For each its `table`, and the arguments of `compare_statement`. One with `enabled` false is left out.
-#}
{% test matches_tables(model, statements) %}
{%- for each in statements if each.get('enabled', true) %}
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
{%- endfor %}
{% endtest %}
