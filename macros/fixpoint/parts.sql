{#- The parts of a fixpoint model that differ between rounds. Each macro returns a unique placeholder, which the
    materialization replaces in every round. -#}

{% macro next_query() -%}
    ;
    /* fixpoint: next query e3a1f6 */
{%- endmacro %}


{% macro this_round() -%}
    __fixpoint_this_round__
{%- endmacro %}


{% macro all_rounds() -%}
    __fixpoint_all_rounds__
{%- endmacro %}


{% macro done_rounds() -%}
    __fixpoint_done_rounds__
{%- endmacro %}


{% macro round_number() -%}
    __fixpoint_round_number__
{%- endmacro %}


{% macro waiting(relation) -%}
    __fixpoint_waiting__{{ relation }}
{%- endmacro %}
