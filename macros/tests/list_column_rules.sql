{% macro list_column_rules(not_null, accepted_values, holds) %}
    {%- set rules = [] -%}
    {%- for column in not_null -%}
        {% do rules.append((column ~ ' is not null', column ~ ' is not null')) %}
    {%- endfor -%}
    {%- for column, values in accepted_values.items() -%}
        {%- set literals = [] -%}
        {%- for value in values -%}
            {% do literals.append(string_literal(value) if value is string else value | string) %}
        {%- endfor -%}
        {%- set accepted = column ~ ' in (' ~ literals | join(', ') ~ ')' -%}
        {% do rules.append((accepted, 'coalesce(' ~ accepted ~ ', true)')) %}
    {%- endfor -%}
    {%- for name, rule in holds.items() -%}
        {%- set condition = 'coalesce(' ~ (rule if rule is string else rule.expression) ~ ', false)' -%}
        {%- if rule is not string and rule.where -%}
            {%- set condition = 'not coalesce(' ~ rule.where ~ ', false) or ' ~ condition -%}
        {%- endif -%}
        {% do rules.append((name, condition)) %}
    {%- endfor -%}
    {{ return(rules) }}
{% endmacro %}
