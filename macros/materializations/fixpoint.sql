{% materialization fixpoint, adapter='spark', supported_languages=['sql'] %}
    {%- if tangles.is_unchanged() -%}
        {{ return(tangles.leave()) }}
    {%- endif -%}
    {%- set target_relation = this.incorporate(type='table') -%}
    {% do tangles.drop_known(this) %}
    {{ run_hooks(pre_hooks) }}

    {%- set queries = compiled_code.split(tangles.next_query() | trim) -%}
    {%- if queries | length not in [2, 3] -%}
        {% do exceptions.raise_compiler_error(
            model['name'] ~ ' has ' ~ queries | length ~ ' queries; a fixpoint has a base, a step and perhaps what waits,'
            ~ ' with tangles.next_query() between them'
        ) %}
    {%- endif -%}
    {%- set words = config.meta_get('words') or {'round': 'round', 'rows': 'rows'} -%}
    {%- set first = config.meta_get('first_round') or 0 -%}
    {%- set rounds_at_once = 8 -%} {#- done rounds that are kept as tables of their own -#}

    {#- The rows of a round are a table: views and cached plans would nest, and double with each round. -#}
    {%- set state = namespace(rounds=[], has_target=false, waiting=none, ended=false) -%}
    {%- for number in range(99999) -%}
        {%- set this_relation = tangles.beside(this, 'round_' ~ number) -%}
        {% do tangles.drop_known(this_relation) %}
        {%- call statement('round_' ~ number) -%}
            {{ create_table_as(False, this_relation, tangles.fixpoint_query(
                queries[0] if number == 0 else queries[1], state, target_relation, first + number
            )) }}
        {%- endcall -%}
        {%- set settled, waits = run_query(
            'select count_if(is_settled), count_if(not is_settled) from ' ~ this_relation
        ).rows[0].values() -%}
        {% do log(model['name'] ~ ': ' ~ words.round ~ ' ' ~ (first + number) ~ ': ' ~ '{:,}'.format(settled | int) ~ ' '
            ~ words.rows ~ ' settled' ~ (', {:,} wait'.format(waits | int) if waits else ''), info=True) %}
        {% do state.rounds.append(this_relation) %}
        {%- set state.ended = settled == 0 or tangles.is_last_round(queries, state, first, number, settled | int) -%}
        {%- if state.ended or state.rounds | length > rounds_at_once -%}
            {% do tangles.settle_rounds(queries, state, target_relation, number) %}
        {%- endif -%}
        {%- if state.ended -%}{%- break -%}{%- endif -%}
    {%- endfor -%}
    {%- if not state.ended -%}
        {% do exceptions.raise_compiler_error(model['name'] ~ ' has not settled after 99,999 rounds') %}
    {%- endif -%}
    {%- if state.waiting -%}
        {% do adapter.drop_relation(state.waiting) %}
    {%- endif %}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{#- Whether no more rounds are wanted: their number is reached, or the round has settled too little of what waits. -#}
{% macro is_last_round(queries, state, first, number, settled) %}
    {%- set limit, share = config.meta_get('rounds'), config.meta_get('least_share') or 0 -%}
    {%- if limit is not none and first + number >= limit -%}
        {{ return(true) }}
    {%- endif -%}
    {%- if number == 0 or not share or queries | length == 2 -%}
        {{ return(false) }}
    {%- endif -%}
    {%- if state.waits is not defined -%}
        {%- set waiting = modules.re.search('__fixpoint_waiting__(\\S+)', queries[2]).group(1) -%}
        {%- set state.waits = run_query('select count(*) from ' ~ waiting).rows[0][0] | int -%}
    {%- endif -%}
    {{ return(settled < share * state.waits) }}
{% endmacro %}


{#- Moves what the rounds have settled into the model's table, and leaves of the waiting rows those that still wait. The
    last round stays, as the next one goes on from it, unless it was the last of all. -#}
{% macro settle_rounds(queries, state, target_relation, number) %}
    {%- set last = none if state.ended else state.rounds.pop() -%}
    {%- set settled = tangles.settled_rows(state.rounds) -%}
    {%- call statement('main') -%}
        {%- if state.has_target -%}
            insert into {{ target_relation }} {{ settled }}
        {%- else -%}
            {{ create_table_as(False, target_relation, settled) }}
        {%- endif -%}
    {%- endcall -%}
    {%- if last is not none and queries | length == 3 -%}
        {%- set waiting = tangles.beside(this, 'waiting_' ~ number) -%}
        {% do tangles.drop_known(waiting) %}
        {%- call statement('waiting') -%}
            {{ create_table_as(False, waiting, tangles.fixpoint_query(queries[2], state, target_relation)) }}
        {%- endcall -%}
        {%- if state.waiting -%}
            {% do adapter.drop_relation(state.waiting) %}
        {%- endif -%}
        {%- set state.waiting = waiting -%}
    {%- endif -%}
    {%- for relation in state.rounds -%}
        {% do adapter.drop_relation(relation) %}
    {%- endfor -%}
    {%- set state.rounds = [] if last is none else [last] -%}
    {%- set state.has_target = true -%}
{% endmacro %}


{#- A query of the model with the names of the round in it. -#}
{% macro fixpoint_query(query, state, target_relation, number=none) %}
    {%- set done = tangles.settled_rows(state.rounds) -%}
    {%- set before = 'select ' ~ config.meta_require('result_columns') | join(', ') ~ ' from ' ~ target_relation -%}
    {%- set query = modules.re.sub('__fixpoint_waiting__(\\S+)', state.waiting | string if state.waiting else '\\1', query) -%}
    {{ return(query
        | replace(tangles.this_round(), state.rounds[-1] | string if state.rounds else '')
        | replace(tangles.all_rounds(), '(' ~ (before ~ ' union all ' if state.has_target else '') ~ done ~ ')')
        | replace(tangles.done_rounds(), '(' ~ done ~ ')')
        | replace(tangles.round_number(), number | string)) }}
{% endmacro %}


{#- What some rounds have settled, as a query. -#}
{% macro settled_rows(rounds) -%}
    {%- for relation in rounds -%}
        select {{ config.meta_require('result_columns') | join(', ') }} from {{ relation }} where is_settled
        {%- if not loop.last %} union all {% endif -%}
    {%- endfor -%}
{%- endmacro %}


{#- The name of a table beside the model's own. -#}
{% macro beside(relation, suffix) %}
    {{ return(relation.incorporate(path={'identifier': relation.identifier ~ '__' ~ suffix}, type='table')) }}
{% endmacro %}


{#- Drops a table if dbt knows of it: one that an earlier run has left. -#}
{% macro drop_known(relation) %}
    {%- set known = adapter.get_relation(relation.database, relation.schema, relation.identifier) -%}
    {%- if known is not none -%}
        {% do adapter.drop_relation(known) %}
    {%- endif -%}
{% endmacro %}
