{% materialization fixpoint, adapter='spark', supported_languages=['sql'] %}
    {%- set target_relation = api.Relation.create(
        identifier=model['alias'], schema=schema, database=database, type='table'
    ) -%}
    {%- set old_relation = adapter.get_relation(database=database, schema=schema, identifier=model['alias']) -%}
    {%- if old_relation is not none -%}
        {% do adapter.drop_relation(old_relation) %}
    {%- endif -%}
    {{ run_hooks(pre_hooks) }}

    {%- set queries = compiled_code.split(';\n') -%}
    {%- if queries | length != 2 -%}
        {% do exceptions.raise_compiler_error(
            'a fixpoint model is two queries, base and step, with a semicolon between them'
        ) %}
    {%- endif -%}
    {%- set base, step = queries -%}
    {%- set columns = config.meta_require('result_columns') | join(', ') -%}

    {#- The state of a round is a table: views and cached plans would nest, and double with each round. -#}
    {%- set rounds = [] -%}
    {%- for number in range(99999) -%}
        {%- set round_relation = target_relation.incorporate(
            path={'identifier': model['alias'] ~ '__round_' ~ number}
        ) -%}
        {%- set query = base if number == 0 else step.replace(this_round(), rounds[-1].relation | string) -%}
        {% do adapter.drop_relation(round_relation) %}
        {% call statement('round_' ~ number) -%}
            {{ create_table_as(False, round_relation, query) }}
        {%- endcall %}
        {%- set settled = run_query(
            'select count(*) from ' ~ round_relation ~ ' where is_settled'
        ).columns[0].values()[0] | int -%}
        {%- if number == 0 -%}
            {%- call statement('main') -%}
                {{ create_table_as(
                    False, target_relation, 'select ' ~ columns ~ ' from ' ~ round_relation ~ ' where is_settled'
                ) }}
            {%- endcall -%}
        {%- else -%}
            {%- if settled > 0 -%}
                {%- call statement('append') -%}
                    insert into {{ target_relation }}
                    select {{ columns }} from {{ round_relation }} where is_settled
                {%- endcall -%}
            {%- endif -%}
            {% do log(model['alias'] ~ ': round ' ~ number ~ ' settled ' ~ settled ~ ' rows', info=True) %}
            {% do adapter.drop_relation(rounds[-1].relation) %}
        {%- endif -%}
        {% do rounds.append({'relation': round_relation, 'settled': settled}) %}
        {%- if settled == 0 -%}{%- break -%}{%- endif -%}
    {%- endfor -%}
    {% do adapter.drop_relation(rounds[-1].relation) %}
    {%- if rounds[-1].settled > 0 -%}
        {% do exceptions.raise_compiler_error(model['alias'] ~ ': not settled after ' ~ rounds | length ~ ' rounds; tangle_engine: kernel has no such limit') %}
    {%- endif %}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
