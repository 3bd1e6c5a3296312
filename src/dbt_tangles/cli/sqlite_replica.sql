-- schema: The tables of the file, and the view of positions.
create table if not exists timelines (timeline_id text primary key, publication text not null) without rowid;
create table if not exists events (
    timeline_id text not null, event_id text not null, place integer not null,
    author text, sent_at real, content_type text, content text, primary key (timeline_id, event_id)
) without rowid;
create index if not exists events_by_place on events (timeline_id, place);
create view if not exists positions as
select timeline_id, row_number() over (partition by timeline_id order by place) - 1 as position, event_id
from events;
-- write_event: Write an event with its content.
insert or replace into events (timeline_id, event_id, place, author, sent_at, content_type, content)
values (:timeline_id, :event_id, :place, :author, :sent_at, :content_type, :content)
