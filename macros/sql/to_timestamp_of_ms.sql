{#- The bounds are the years 1 to 9999. Other numbers, NaN too, are null before any function sees them. -#}
{% macro to_timestamp_of_ms(ms) -%}
    timestamp_millis(cast(floor(if({{ ms }} >= -62135596800000D and {{ ms }} < 253402300800000D, {{ ms }}, null)) as bigint))
{%- endmacro %}
