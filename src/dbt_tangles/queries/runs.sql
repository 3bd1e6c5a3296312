-- Report, runs: the latest 10 runs.
select
    run_id,
    status,
    is_full,
    project_version,
    len(coalesce(changed_tables, tables)) as tables,
    len(tables) as current_tables,
    strftime(make_timestamp(epoch_us(started_at)), '%Y-%m-%d %H:%M:%S') as started_at,
    strftime(make_timestamp(epoch_us(finished_at)), '%Y-%m-%d %H:%M:%S') as finished_at,
    round((epoch_us(finished_at) - epoch_us(started_at)) / 1e6, 1) as seconds,
    inputs,
    to_json(vars) as vars
from runs as run
order by run.started_at desc
limit 10
