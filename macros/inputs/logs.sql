{#- The model that reads the lines of each log, by the var that names the log. As soon as one is given, the others are
    empty. -#}
{% macro logs() %}
    {{ return({
        'ssb_log': 'stg_ssb__lines',
        'pzp_log': 'stg_pzp__lines',
        'autobase_log': 'stg_autobase__lines',
        'event_log': 'stg_events__lines',
    }) }}
{% endmacro %}
