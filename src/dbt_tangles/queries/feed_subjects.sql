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
    total,
    author,
    status,
    verified_length,
    {
        'status': status,
        'messages': message_count,
        'in the chain': verified_length,
        'greatest sequence': max_sequence,
        'missing from': gap_sequence,
        'forked at': fork_sequence
    } as facts,
    {
        'key': author,
        'name': if(status = 'complete', 'feed', 'feed, ' || status),
        'id': author,
        'size': message_count,
        'trouble': coalesce(message_count, 0) - coalesce(verified_length, 0),
        'facts': format('{:,}', coalesce(message_count, 0)) || if(message_count = 1, ' message', ' messages')
            || ', ' || format('{:,}', coalesce(verified_length, 0)) || ' in the chain'
    } as entry
from ranked
where size_rank <= $subjects or trouble_rank <= $subjects
order by case when trouble_rank <= $subjects then trouble_rank else $subjects + size_rank end
