{{ config(enabled=has_groups()) }}

with statements as (
    select * from {{ ref('int_group_messages') }}
    where group_id is not null and epoch_id is not null
),

persons as (
    select * from {{ ref('int_feed_persons') }}
),

named as (
    select
        exploded_feeds.message_id,
        collect_set(if(persons.feed is null, exploded_feeds.feed, persons.person)) as persons
    from (
        select
            statements.message_id,
            exploded.feed
        from statements
            lateral view explode(feeds) exploded as feed
    ) as exploded_feeds
    left join persons on exploded_feeds.feed = persons.feed
    group by exploded_feeds.message_id
),

-- A previous counts although its message is set aside: who lists an id knows the message.
listed as (
    select
        message_id,
        array_distinct(flatten(collect_list(previous))) as previous
    from {{ ref('int_tangle_claims') }}
    where tangle_name in ('group', 'epoch', 'members')
    group by message_id
),

members as (
    select
        messages.root_id as group_id,
        messages.message_id,
        messages.author
    from {{ ref('tangle_messages') }} as messages
    left semi join statements
        on messages.root_id = statements.message_id and statements.kind = 'root_init'
    where messages.tangle_name = 'group' and messages.is_member
),

messages as (
    select
        coalesce(statements.group_id, members.group_id) as group_id,
        coalesce(statements.message_id, members.message_id) as message_id,
        coalesce(statements.kind, 'post') as kind,
        members.message_id is not null as is_in_tangle,
        coalesce(statements.author, members.author) as author,
        statements.epoch_id,
        statements.previous_epochs
    from members
    full outer join statements
        on members.group_id = statements.group_id and members.message_id = statements.message_id
)

select
    messages.group_id,
    messages.message_id,
    messages.kind,
    messages.is_in_tangle,
    messages.author,
    persons.person,
    persons.person_source,
    messages.epoch_id,
    messages.previous_epochs,
    if(messages.kind in ('add', 'exclude'), named.persons, null) as persons,
    listed.previous
from messages
left join persons on messages.author = persons.feed
left join named on messages.message_id = named.message_id
left join listed on messages.message_id = listed.message_id
