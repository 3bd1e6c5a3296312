{#- The staging model of each log, by the var that names the log. If one log is given, the logs without a var are empty. -#}
{% macro logs() %}
    {{ return({
        'ssb_log': 'stg_ssb__lines',
        'pzp_log': 'stg_pzp__lines',
        'autobase_log': 'stg_autobase__lines',
        'event_log': 'stg_events__lines',
    }) }}
{% endmacro %}
