{{ config(enabled=has_log('ssb_log')) }}

{{ select_tangle_types() }}
