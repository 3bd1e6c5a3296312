{#- The columns of the table. Its rows are written by hooks when a run begins and when it ends (run_history.py). -#}
{{ config(materialized='create_if_missing') }}

select
    cast(null as string) as run_id,
    cast(null as timestamp) as started_at,
    cast(null as timestamp) as finished_at,
    cast(null as string) as status,
    cast(
        null as array<struct<var: string, path: string, files: bigint, bytes: bigint, lines: bigint>>
    ) as inputs,
    str_to_map('') as vars,
    cast(null as boolean) as is_full,
    cast(null as string) as project_version,
    cast(null as array<string>) as tables,
    cast(null as array<string>) as changed_tables,
    str_to_map('') as snapshots
where false
