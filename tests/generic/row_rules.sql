{#-
Every rule for the rows of a model, checked by one query. A failure is a rule and a row: `broken_rule` and `failing_row`
(the row as JSON). A rule may have a `where`: it then counts for the rows of which that condition is true.
The primary key is that of the model's `constraints`; nulls count as values. Tests of private models run where `is_tested` says so.

key_where: The condition on the rows whose primary key is checked; without it, all rows.
not_null: Columns that are never null.
unique: Further combinations of columns that no two rows share: `{columns: [...], where: ...}` each.
accepted_values: The values of a column, by its name; null is accepted too.
holds: Conditions that are true of every row, by a name for the log: SQL, or `{expression: ..., where: ...}`. A condition
    that is null fails.
-#}
{% test row_rules(model, key_where=none, not_null=[], unique=[], accepted_values={}, holds={}) %}
{{ config(enabled=tangles.is_tested()) }}

{%- set key_columns = tangles.tested_key_columns() %}
{%- set keys = ([{'columns': key_columns, 'where': key_where}] if key_columns else []) + unique %}
{%- set rules = tangles.list_column_rules(not_null, accepted_values, holds) %}
{%- set rows_to_test = rows_to_test(model) %}

{%- if rules %}
select
    explode(filter(array(
        {%- for name, condition in rules %}
        if({{ condition }}, cast(null as string), {{ tangles.string_literal(name) }}){{ ',' if not loop.last }}
        {%- endfor %}
    ), broken -> broken is not null)) as broken_rule,
    to_json(struct(*)) as failing_row
from {{ rows_to_test }}
where not (
    {%- for _, condition in rules %}
    ({{ condition }}){{ ' and' if not loop.last }}
    {%- endfor %}
)
{%- endif %}
{%- for key in keys %}
{%- if rules or not loop.first %}

union all
{% endif %}
{{ tangles.find_repeated_keys(
    rows_to_test if is_group_key(key.columns or key) else model, key.columns or key, key.where
) }}
{%- endfor %}

{% endtest %}
