{{ config(
    enabled=has_log('ssb_log'),
    materialized='fixpoint',
    meta={
        'result_columns': ['tangle_name', 'root_id', 'message_id', 'ancestor_id', 'distance'],
        'first_round': 1,
        'small_rows': var('sql_edge_limit'),
        'words': {'round': 'depth', 'rows': 'pairs'}
    }
) }}

{{ propagate_along_edges(
    ref('int_tangle_reach'),
    condition='has_pairs',
    key='ancestor_id', edge_key='previous_id',
    value='distance', edge_value='1', passed_value='distance + 1'
) }}
