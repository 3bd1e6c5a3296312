-- Report, feeds: the list of feeds, those with the most messages off their chain first, then the longest.
with ranked as (
    select
        author,
        status,
        message_count,
        verified_length,
        max_sequence,
        gap_sequence,
        fork_sequence,
        count(*) over () as total,
        row_number() over (order by message_count desc, author) as size_rank,
        case
            when status <> 'complete'
                then row_number() over (
                    partition by status <> 'complete' order by message_count - verified_length desc, author
                )
        end as trouble_rank
    from feeds
)

select
    *,
    case when trouble_rank <= $subjects then 'troubled' else 'large' end as chosen
from ranked
where size_rank <= $subjects or trouble_rank <= $subjects
order by case when trouble_rank <= $subjects then trouble_rank else $subjects + size_rank end
