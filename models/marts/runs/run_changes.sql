{#- The columns of the table. Its rows are written by a hook when a run ends (run_history.py). -#}
{{ config(materialized='create_if_missing') }}

select
    cast(null as string) as run_id,
    cast(null as string) as table_name,
    cast(null as bigint) as rows_added,
    cast(null as bigint) as rows_changed,
    cast(null as bigint) as rows_removed
where false
