-- schema: The events in order, their links, and ranges of the order with the number of their events.
create table if not exists events (
    number integer primary key, event_id text not null unique, rank integer -- null while the event is awaited
);
create index if not exists events_in_order on events (rank, event_id);
create table if not exists links (
    cause integer not null, effect integer not null, primary key (cause, effect)
) without rowid;
create index if not exists causes_of_events on links (effect, cause);
create table if not exists blocks (
    rank integer not null, event_id text not null, size integer not null, primary key (rank, event_id)
) without rowid;
insert or ignore into blocks values (-1, '', 0);
create view if not exists positions as
select row_number() over (order by rank, event_id) - 1 as position, event_id from events where rank is not null;
-- causes: The causes of an event.
select event_id from events where number in (select cause from links where effect = ?)
-- effects: The events that list an event.
select number, rank, event_id from events where number in (select effect from links where cause = ?)
-- pending: The awaited events, each with an event that lists it.
select awaited.event_id, effects.event_id
from events as awaited
inner join links on awaited.number = links.cause
inner join events as effects on links.effect = effects.number
where awaited.rank is null order by awaited.event_id, effects.event_id
-- block: The block that a key belongs to.
select rank, event_id, size from blocks
where (rank, event_id) <= (?, ?) order by rank desc, event_id desc limit 1
-- position: The number of events before a key, whose block is given first and last.
select count(*) + (select coalesce(sum(size), 0) from blocks where (rank, event_id) < (?, ?))
from events where (rank, event_id) < (?, ?) and (rank, event_id) >= (?, ?)
-- keys: The events from one key to another.
select rank, event_id from events
where (rank, event_id) >= (?, ?) and (rank, event_id) < (?, ?) order by rank, event_id
-- end: The first block behind a key.
select rank, event_id from blocks where (rank, event_id) > (?, ?) order by rank, event_id limit 1
-- sum: The number of blocks from one key to another, and of their events.
select count(*), sum(size) from blocks where (rank, event_id) >= (?, ?) and (rank, event_id) < (?, ?)
