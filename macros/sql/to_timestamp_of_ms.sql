{#- The bounds are the years 2 to 9998: in a time zone, the first and last day of years 1 and 9999 are outside of Python's dates.
    Other numbers, NaN too, are null before any function sees them. -#}
{% macro to_timestamp_of_ms(ms) -%}
    timestamp_millis(cast(floor(if({{ ms }} >= -62104060800000D and {{ ms }} < 253370764800000D, {{ ms }}, null)) as bigint))
{%- endmacro %}
