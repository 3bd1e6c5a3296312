{#- dbt renders the values of vars in some places and would run Jinja in them. This macro looks for Jinja before `var()`
    renders a value. -#}
{% macro refuse_jinja() %}
    {%- if adapter is defined -%} {#- linters run without an adapter -#}
    {%- set problems = [] -%}
    {%- set given = adapter.config.vars.to_dict() -%}
    {%- set scopes = [given, given.get(project_name) or {}, given.get('tangles') or {}, adapter.config.cli_vars] -%}
    {%- for name in logs() | list + settings() | list -%}
        {%- for scope in scopes if scope.get(name) is not none -%}
            {%- set text = scope[name] if scope[name] is string else scope[name] | tojson -%}
            {%- for mark in ['{' ~ '{', '{' ~ '%', '{' ~ '#'] if mark in text -%}
                {% do problems.append(describe_wrong_value(name, scope[name], 'a plain value, without ' ~ mark)) %}
            {%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
    {% do refuse_values(problems | unique | list) %}
    {%- endif -%}
{% endmacro %}
