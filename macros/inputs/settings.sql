{#- The vars other than logs, each with its accepted words or its kind of value. This list and `logs` are the only lists of
    all names; the defaults are in dbt_project.yml. -#}
{% macro settings() %}
    {{ return({
        'ssb_log_format': ['lines', 'pretty'],
        'unpack_limit': 'positive',
        'verify_signatures': 'boolean',
        'tangle_engine': ['auto', 'sql', 'kernel'],
        'sql_edge_limit': 'count',
        'ancestor_limit': 'count',
        'clock_limit': 'count',
        'graph_limit': 'positive',
        'rows_in_memory': 'positive',
        'tangle_types': 'tangle types',
        'private_groups': 'boolean',
        'set_ghost_span': 'positive',
        'consensus_rule': ['autobase', 'design'],
        'base_clock_limit': 'count',
        'design_position_limit': 'count',
        'quorum_degrees': 'positive',
        'log_timeline': ['order', 'full', false],
        'edit_batch_size': 'count',
        'edit_limit': 'count',
        'edit_command_limit': 'count',
        'max_previous': 'positive or none',
        'incremental_from': 'count',
        'count_changes': 'boolean',
        'test_private_models': 'boolean',
    }) }}
{% endmacro %}
