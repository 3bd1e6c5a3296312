-- Report, runs: the tables whose rows each of the latest 10 runs was the last to change.
select
    run_id,
    list_sort(coalesce(changed_tables, tables)) as tables
from runs as run
order by run.started_at desc
limit 10
