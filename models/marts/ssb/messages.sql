{{ config(enabled=has_log('ssb_log')) }}

with names as (
    select
        author,
        max_by(own_name, struct(sequence, message_id)) as author_name
    from {{ ref('ssb_messages') }}
    where is_usable and own_name is not null
    group by author
),

-- Of the tangles that a message names, the first that it is a member of, or else the first that sets it aside; of a
-- message that names none, the first that it starts.
main_tangles as (
    select
        message_id,
        tangle_name,
        root_id,
        set_aside_reason,
        row_number() over (
            partition by message_id
            order by is_root asc, set_aside_reason is not null asc, tangle_name asc, root_id asc
        ) as place
    from {{ ref('tangle_messages') }}
),

entries as (
    select
        messages.message_id,
        cast(null as string) as source_file,
        cast(null as bigint) as line,
        messages.author,
        messages.sequence,
        messages.asserted_ms,
        messages.content_type,
        messages.first_words,
        messages.is_encrypted,
        main_tangles.tangle_name,
        main_tangles.root_id,
        messages.check_error,
        main_tangles.set_aside_reason,
        feed_messages.reason as feed_reason
    from {{ ref('ssb_messages') }} as messages
    left join main_tangles on messages.message_id = main_tangles.message_id and main_tangles.place = 1
    left join {{ ref('feed_messages') }} as feed_messages on messages.message_id = feed_messages.message_id

    union all

    -- A line of an unusable message has its row above; the others have no id, or that of another text.
    select
        cast(null as string) as message_id,
        rejects.source_file,
        rejects.line,
        cast(null as string) as author,
        cast(null as int) as sequence,
        cast(null as double) as asserted_ms,
        cast(null as string) as content_type,
        cast(null as string) as first_words,
        cast(null as boolean) as is_encrypted,
        cast(null as string) as tangle_name,
        cast(null as string) as root_id,
        rejects.reason as check_error,
        cast(null as string) as set_aside_reason,
        cast(null as string) as feed_reason
    from {{ ref('ssb_rejects') }} as rejects
    left anti join {{ ref('ssb_messages') }} as messages
        on rejects.message_id = messages.message_id and not messages.is_usable
),

judged as (
    select
        *,
        case
            when check_error is not null then 'rejected'
            when set_aside_reason is not null then 'set_aside'
            when feed_reason is not null then 'off_chain'
            else 'accepted'
        end as verdict,
        coalesce(check_error, set_aside_reason, feed_reason) as reason
    from entries
)

select
    judged.message_id,
    judged.source_file,
    judged.line,
    judged.author,
    names.author_name,
    judged.sequence,
    judged.asserted_ms,
    {{ to_timestamp_of_ms('judged.asserted_ms') }} as asserted_at,
    judged.content_type,
    judged.first_words,
    judged.is_encrypted,
    feeds.status as feed_status,
    judged.tangle_name,
    judged.root_id,
    {{ format_tangle_id('judged.tangle_name', 'judged.root_id') }} as tangle_id,
    judged.verdict,
    judged.reason,
    reasons.meaning,
    reasons.remedy
from judged
left join names on judged.author = names.author
left join {{ ref('feeds') }} as feeds on judged.author = feeds.author
left join {{ ref('int_reasons') }} as reasons
    on
        judged.reason = reasons.code
        and reasons.code_column = case judged.verdict
            when 'rejected' then 'ssb_rejects.reason'
            when 'set_aside' then 'tangle_messages.set_aside_reason'
            else 'feed_messages.reason'
        end
