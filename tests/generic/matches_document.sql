{#-
Of what a document's examples state, the model has every row, no other, and all the same: `expected` is the seed with
the statements. A seed has names where the model has ids; `names` says whose: of `ssb`, `pzp` or `autobase`.

columns: The model's columns to compare. `root_id: ids[root]` says how the statement reads in SQL, where that is not a
    column of the same name. `ids` maps the names of a row's example to ids, and for `ssb` `feeds` those of people.
lists: Columns of the seed that hold names, separated by spaces, and what maps them: arrays of ids in `columns`.
rows: A condition on the rows of the seed; all of them, if it is not said. (`where` is dbt's own, on those of the model.)
only: A column of the model and what it must be among, so that rows which no example speaks of are left out: `ids` or
    `feeds` of examples, or a column of `examples`.
examples: A seed whose examples these are; all examples, if it is not said.
stated_by: Columns whose values a statement must have, so that the model's rows beside all statements are left out.
-#}
{% test matches_document(
    model, expected, columns, names=none, lists={}, rows='true', only={}, examples=none, stated_by=[]
) %}

{%- set maps = document_names(names) %}
{%- set compared = [] %}
{%- for column in columns %}
    {%- for built, stated in (column.items() if column is mapping else [(column, column)]) %}
        {%- do compared.append((built, stated, built.split(' ') | last)) %}
    {%- endfor %}
{%- endfor %}

with stated as (
    select
        {%- for column in adapter.get_columns_in_relation(expected) if column.name not in lists %}
        seed.{{ column.name }}{{ ',' if not loop.last }}
        {%- endfor %}
        {%- for map in maps %},
        {{ map }}_of_examples.{{ map }}
        {%- endfor %}
        {%- for column, map in lists.items() %},
        transform(filter(split(coalesce(seed.{{ column }}, ''), ' '), word -> word <> ''), word -> {{ map }}[word]) as {{ column }}
        {%- endfor %}
    from {{ expected }} as seed
    {%- for map, by in maps.items() %}
    left join (
        select example, map_from_entries(collect_list(struct({{ by.name }}, {{ by.id }}))) as {{ map }}
        from {{ by.seed }}
        group by example
    ) as {{ map }}_of_examples on seed.example = {{ map }}_of_examples.example
    {%- endfor %}
    where {{ rows }}
),

expected as (
    select
        {%- for _, stated, name in compared %}
        {{ stated }} as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from stated
),

built as (
    select {{ compared | map(attribute=0) | join(', ') }}
    from {{ model }}
    where true
    {%- for column, among in only.items() %}
        {%- if among in maps %}
        and {{ column }} in (
            select {{ maps[among].id }} from {{ maps[among].seed }}
            {%- if examples %} where example in (select example from {{ examples }}){% endif %}
        )
        {%- else %}
        and {{ column }} in (select {{ among }} from {{ examples }})
        {%- endif %}
    {%- endfor %}
    {%- if stated_by %}
        and ({{ stated_by | join(', ') }}) in (select {{ stated_by | join(', ') }} from expected)
    {%- endif %}
)

{{ differences('expected', 'built') }}

{% endtest %}
