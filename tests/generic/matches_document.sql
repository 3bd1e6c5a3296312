{#-
Of what a document's examples state, the model has every row, no other, and all the same. The seed `expected` holds the
rows of many statements, each as cells of text; the seed's `meta` says the columns of each statement and their types.

statement: Whose rows of the seed are compared.
columns: The model's columns to compare. `root_id: ids[root]` says how the statement reads in SQL, where that is not a
    column of the same name. `ids` maps the names of a row's example to ids, and for `ssb` `feeds` those of people.
names: The system whose names the rows have where the model has ids: `ssb`, `pzp` or `autobase`.
lists: Columns of the statement that hold names, separated by spaces, and what maps them: arrays of ids in `columns`.
rows: A condition on the rows of the statement; all of them, if it is not said. (`where` is dbt's own, on the model's.)
only: A column of the model and what it must be among, so that rows which no example speaks of are left out: `ids` or
    `feeds` of examples, or their names: `example`.
examples: A statement whose examples these are; all examples, if it is not said.
stated_by: Columns whose values a statement must have, so that the model's rows beside all statements are left out.
-#}
{% test matches_document(
    model, expected, statement, columns, names=none, lists={}, rows='true', only={}, examples=none, stated_by=[]
) %}

{%- set maps = tangles.document_names(names) %}
{%- set types = {} %}
{%- if execute %}
    {%- set meta = graph.nodes['seed.tangles.' ~ expected.identifier].config.meta %}
    {%- do types.update(meta.statements[statement].column_types) %}
{%- endif %}
{%- set compared = [] %}
{%- for column in columns %}
    {%- for built, stated in (column.items() if column is mapping else [(column, column)]) %}
        {%- do compared.append((built, stated, built.split(' ') | last)) %}
    {%- endfor %}
{%- endfor %}

with said as (
    select
        example,
        str_to_map(cells, '; ', '=') as cells
    from {{ expected }}
    where statement = '{{ statement }}'
),
{%- if maps %}

names_of_examples as (
    select
        example
        {%- for map, kind in maps.items() %},
        map_from_entries(collect_list(if(kind = '{{ kind }}', struct(name, id), null))) as {{ map }}
        {%- endfor %}
    from {{ ref('fixture_names') }}
    where system = '{{ names }}'
    group by example
),
{%- endif %}

stated as (
    select
        said.example
        {%- for column, type in types.items() if column not in lists and column != 'example' %},
        cast(said.cells['{{ column }}'] as {{ type }}) as {{ column }}
        {%- endfor %}
        {%- for map in maps %},
        names_of_examples.{{ map }}
        {%- endfor %}
        {%- for column, map in lists.items() %},
        transform(
            filter(split(coalesce(said.cells['{{ column }}'], ''), ' '), word -> word <> ''),
            word -> names_of_examples.{{ map }}[word]
        ) as {{ column }}
        {%- endfor %}
    from said
    {%- if maps %}
    left join names_of_examples on said.example = names_of_examples.example
    {%- endif %}
),

expected as (
    select
        {%- for _, stated, name in compared %}
        {{ stated }} as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from stated
    where {{ rows }}
),

built as (
    select {{ compared | map(attribute=0) | join(', ') }}
    from {{ model }}
    where true
    {%- for column, among in only.items() %}
        and {{ column }} in (
        {%- if among in maps %}
            select id from {{ ref('fixture_names') }} where system = '{{ names }}' and kind = '{{ maps[among] }}'
        {%- else %}
            select example from {{ expected }} where true
        {%- endif %}
        {%- if examples %}
                and example in (select example from {{ expected }} where statement = '{{ examples }}')
        {%- endif %}
        )
    {%- endfor %}
    {%- if stated_by %}
        and ({{ stated_by | join(', ') }}) in (select {{ stated_by | join(', ') }} from expected)
    {%- endif %}
)

{{ differences('expected', 'built', compared | map(attribute=2) | list) }}

{% endtest %}
