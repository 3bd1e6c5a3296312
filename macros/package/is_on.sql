{#- Whether a model is switched on, by its folders and name. While a project is parsed no other model can be asked for, so
    this looks where `+enabled` is written: under `models:` of the project that runs. -#}
{% macro is_on(path) %}
    {%- if adapter is not defined -%} {#- linters have none -#}
        {{ return(true) }}
    {%- endif -%}
    {%- set state = namespace(settings=adapter.config.models, is_on=true) -%}
    {%- for name in ['tangles'] + path.split('.') -%}
        {%- set state.settings = state.settings.get(name) or {} -%}
        {%- set state.is_on = state.settings.get('+enabled', state.settings.get('enabled', state.is_on)) -%}
    {%- endfor -%}
    {{ return(state.is_on) }}
{% endmacro %}


{#- Whether there are the models that timelines of SSB messages are made of. -#}
{% macro has_message_timelines() %}
    {{ return(is_on('marts.ssb.ssb_messages') and is_on('marts.feeds.feed_messages')
        and is_on('marts.tangles.tangle_messages')) }}
{% endmacro %}


{#- A relation of no rows with some columns, in the place of a model that is switched off. -#}
{% macro no_rows(columns) -%}
(
    select
        {%- for name, type in columns.items() %}
        cast(null as {{ type }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    where false
)
{%- endmacro %}
