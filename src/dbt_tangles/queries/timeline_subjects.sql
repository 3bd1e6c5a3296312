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
    total,
    timeline_id,
    event_count,
    {
        'events': event_count,
        'authors': author_count,
        'ranks': rank_count,
        'steps': edit_count
    } as facts,
    {
        'key': timeline_id,
        'title': if(timeline_id = 'ssb:log', 'the whole SSB log', timeline_id),
        'size': event_count,
        'trouble': 0,
        'facts': format('{:,}', coalesce(event_count, 0)) || if(event_count = 1, ' event', ' events')
            || ', ' || format('{:,}', coalesce(edit_count, 0)) || if(edit_count = 1, ' step', ' steps')
    } as entry
from ranked
where size_rank <= $subjects or trouble_rank <= $subjects
order by case when trouble_rank <= $subjects then trouble_rank else $subjects + size_rank end
