{#- The tables at both ends of foreign keys; dbt's error names one that is missing here. Where logs are given, the seed
    `fixture_log` is disabled, and dbt leaves this test out. -#}
{%- set tables = [
    'autobase_bases', 'autobase_confirmations', 'autobase_links', 'autobase_next', 'autobase_nodes', 'autobase_quorums',
    'autobase_rebases', 'autobase_unsettled', 'autobase_updates', 'autobase_views',
    'feed_messages', 'feed_next', 'feeds', 'messages', 'pzp_messages', 'pzp_rejects', 'record_fields', 'records',
    'run_changes', 'runs', 'set_items', 'set_links', 'set_messages', 'set_next', 'set_next_items', 'set_writer_faults', 'sets',
    'ssb_messages', 'ssb_rejects', 'tangle_ancestors', 'tangle_edges', 'tangle_messages', 'tangle_missing',
    'tangle_next', 'tangle_writer_faults', 'tangles', 'timeline_edits', 'timeline_events', 'timeline_links',
    'timeline_stats', 'timeline_updates'
] + (['group_authority', 'group_epochs', 'group_members', 'group_messages', 'group_next'] if has_groups() else [])
+ (['tangle_clocks'] if var('clock_limit') is number and var('clock_limit') > 0 else []) -%}
{%- for name in ['fixture_log'] + tables %}{% do ref(name) %}{% endfor -%}

{{ find_all_dangling_keys() }}
