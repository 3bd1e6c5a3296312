{% macro keep_claimed_id(claimed, log) -%}
{%- set forms = {
    'ssb': '%[A-Za-z0-9+/]{43}=[.][a-z0-9-]{1,20}|ssb:message/[a-z0-9-]{1,30}/[A-Za-z0-9_-]{43,44}=?',
    'pzp': '[1-9A-HJ-NP-Za-km-z]{43,44}'
} -%}
case
    when length({{ claimed }}) between 43 and 100
        and regexp_extract({{ claimed }}, '({{ forms[log] }})', 1) = {{ claimed }}
        then {{ claimed }}
end
{%- endmacro %}
