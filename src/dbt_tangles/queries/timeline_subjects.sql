-- Report, timelines: the list of timelines, those with the most commands for each event first, then the largest.
with ranked as (
    select
        timeline_id,
        event_count,
        author_count,
        rank_count,
        edit_count,
        edits_per_event,
        edits_p95,
        edits_max,
        count(*) over () as total,
        row_number() over (order by event_count desc, timeline_id) as size_rank,
        case
            when edits_per_event > 1 then row_number() over (order by edits_per_event desc, timeline_id)
        end as trouble_rank
    from timeline_stats
)

select
    *,
    case when trouble_rank <= $subjects then 'troubled' else 'large' end as chosen
from ranked
where size_rank <= $subjects or trouble_rank <= $subjects
order by case when trouble_rank <= $subjects then trouble_rank else $subjects + size_rank end
