{% macro is_candidate(reason='set_aside_reason') -%}
    coalesce({{ reason }} not in ('malformed_tangle', 'wrong_type', 'not_a_writer'), true)
{%- endmacro %}
