-- Report, runs: the tables that each of the latest 10 runs wrote last.
select
    run_id,
    list_sort(tables) as tables
from runs as run
order by run.started_at desc
limit 10
