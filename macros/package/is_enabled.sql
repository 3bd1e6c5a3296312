{#- Whether a model is enabled, by its folders and name. While dbt parses, the graph is incomplete, so this macro reads
    `+enabled` under `models:` of the running project. -#}
{% macro is_enabled(path) %}
    {%- if adapter is not defined -%} {#- linters run without an adapter -#}
        {{ return(true) }}
    {%- endif -%}
    {%- set state = namespace(settings=adapter.config.models, is_on=true) -%}
    {%- for name in ['tangles'] + path.split('.') -%}
        {%- set state.settings = state.settings.get(name) or {} -%}
        {%- set state.is_on = state.settings.get('+enabled', state.settings.get('enabled', state.is_on)) -%}
    {%- endfor -%}
    {{ return(state.is_on) }}
{% endmacro %}


{#- Whether all models that the timelines of SSB messages read are enabled. -#}
{% macro has_message_timelines() %}
    {{ return(is_enabled('marts.ssb.ssb_messages') and is_enabled('marts.feeds.feed_messages')
        and is_enabled('marts.tangles.tangle_messages')) }}
{% endmacro %}


{% macro select_no_rows(columns) -%}
(
    select
        {%- for name, type in columns.items() %}
        cast(null as {{ type }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    where false
)
{%- endmacro %}
