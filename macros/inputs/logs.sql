{#- The logs by the var that names each: the model of its lines, and the seed that stands in for it. As soon as one is
    given, those not given are empty. -#}
{% macro logs() %}
    {{ return({
        'ssb_log': {'lines': 'stg_ssb__lines', 'fixture': 'ssb_fixture_log'},
        'pzp_log': {'lines': 'stg_pzp__lines', 'fixture': 'pzp_fixture_log'},
        'autobase_log': {'lines': 'stg_autobase__lines', 'fixture': 'autobase_fixture_log'},
        'event_log': {'lines': 'stg_events__lines', 'fixture': 'event_fixture_log'},
    }) }}
{% endmacro %}
