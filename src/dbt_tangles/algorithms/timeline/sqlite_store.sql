-- schema: The events in order, their links, and two levels of blocks that count events.
create table if not exists events (
    number integer primary key, event_id text not null unique, rank integer -- null while the event is awaited
);
create index if not exists events_in_order on events (rank, event_id);
create table if not exists links (
    cause integer not null, effect integer not null, primary key (cause, effect)
) without rowid;
create index if not exists causes_of_events on links (effect, cause);
create table if not exists blocks (
    level integer not null, rank integer not null, event_id text not null, size integer not null,
    primary key (level, rank, event_id)
) without rowid;
insert or ignore into blocks values (1, -1, '', 0), (2, -1, '', 0);
create view if not exists positions as
select row_number() over (order by rank, event_id) - 1 as position, event_id, rank
from events where rank is not null;
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
-- block: The last block of a level that begins at or before a key.
select rank, event_id from blocks
where level = ? and (rank, event_id) <= (?, ?) order by rank desc, event_id desc limit 1
-- size: The number of events in the blocks of a level from one key to another.
select coalesce(sum(size), 0) from blocks
where level = ? and (rank, event_id) >= (?, ?) and (rank, event_id) < (?, ?)
-- count: The number of events from one key to another.
select count(*) from events where (rank, event_id) >= (?, ?) and (rank, event_id) < (?, ?)
-- resize: Count more or fewer events in a block.
update blocks set size = size + ? where level = ? and rank = ? and event_id = ?
-- blocks_from: The blocks of a level in order, from one key to another.
select rank, event_id, size from blocks
where level = ? and (rank, event_id) >= (?, ?) and (rank, event_id) < (?, ?) order by rank, event_id
-- drop_empty: Delete the blocks without events, but none with which a block of level 2 begins.
delete from blocks
where level = 1 and size = 0 and (rank, event_id) not in (select rank, event_id from blocks where level = 2)
-- event_from: The event that is so many behind a key.
select number, rank, event_id from events where (rank, event_id) >= (?, ?) order by rank, event_id limit 1 offset ?
