{{ config(
    enabled=has_log('ssb_log'),
    materialized='fixpoint',
    meta={
        'result_columns': ['tangle_name', 'root_id', 'message_id', 'author', 'sequence'],
        'first_round': 1,
        'small_rows': var('sql_edge_limit'),
        'words': {'round': 'depth', 'rows': 'entries'}
    }
) }}

{{ propagate_along_edges(
    ref('int_tangle_reach'),
    condition='not has_pairs',
    key='author', edge_key='previous_author',
    value='sequence', edge_value='previous_sequence', passed_value='sequence'
) }}
