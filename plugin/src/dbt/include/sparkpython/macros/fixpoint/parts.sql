{#- The parts of a fixpoint model that differ between rounds. Each macro returns a unique placeholder, which
    `dbt_spark_python.fixpoint` replaces in every round. -#}

{#- Separates the queries of a fixpoint model. -#}
{% macro next_query() -%}
    ;
    /* fixpoint: next query e3a1f6 */
{%- endmacro %}


{#- In the step: the table of the last round. -#}
{% macro this_round() -%}
    __fixpoint_this_round__
{%- endmacro %}


{#- In the third query: the rows (`result_columns`) settled since that query last ran, by rounds that a step has already read. -#}
{% macro done_rounds() -%}
    __fixpoint_done_rounds__
{%- endmacro %}


{#- In the step: the number of the round. -#}
{% macro round_number() -%}
    __fixpoint_round_number__
{%- endmacro %}


{#- A relation that shrinks: it starts as the given relation, and later holds the rows that the third query returned. -#}
{% macro waiting(relation) -%}
    __fixpoint_waiting__{{ relation }}
{%- endmacro %}
