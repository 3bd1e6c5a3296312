{#- The key columns of the table that is being built, if `runs` shall count its changed rows. A project's own macro of this name
    takes the place of this one. -#}
{% macro counted_key_columns() %}
    {{ return(none) }}
{% endmacro %}
