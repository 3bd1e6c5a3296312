-- schema: The tables of the file, and the view of positions.
create table if not exists timelines (timeline_id text primary key, publication text not null) without rowid;
create table if not exists events (
    number integer primary key, timeline_id text not null, event_id text not null,
    author text, sent_at real, content_type text, content text, unique (timeline_id, event_id)
);
create table if not exists blocks (
    timeline_id text not null, place integer not null, size integer not null, numbers text not null,
    primary key (timeline_id, place)
) without rowid;
create view if not exists positions as
select numbered.timeline_id, numbered.before + item.key as position, events.event_id
from (
    select timeline_id, numbers, sum(size) over (partition by timeline_id order by place) - size as before
    from blocks
) as numbered, json_each(numbered.numbers) as item
inner join events on item.value = events.number;
-- write_event: Write the content of an event.
insert into events (timeline_id, event_id, author, sent_at, content_type, content)
values (:timeline_id, :event_id, :author, :sent_at, :content_type, :content)
on conflict (timeline_id, event_id) do update set
(author, sent_at, content_type, content)
= (excluded.author, excluded.sent_at, excluded.content_type, excluded.content)
