-- Report, texts: the root and the last members of a tangle in their order, then the first 20 messages set aside.
select
    message_id as id,
    author,
    coalesce(asserted_ms, received_ms) as written,
    depth,
    thread_position as position,
    is_fork,
    is_merge,
    concurrent_count as concurrent,
    tie_broken_with as tie,
    set_aside_reason as reason,
    is_member,
    case
        when is_member then max(thread_position) over (partition by is_member) + 1
        else count(*) over (partition by is_member)
    end as total
from tangle_messages
where tangle_name = $name and root_id = $root
qualify
    case
        when not is_member
            then row_number() over (
                partition by is_member order by coalesce(asserted_ms, received_ms), message_id
            ) <= 20
        else
            thread_position = 0
            or thread_position > max(thread_position) over (partition by is_member) - greatest($nodes - 1, 1)
    end
order by is_member desc, case when is_member then thread_position else written end, id
