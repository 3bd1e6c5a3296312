-- Report, tangles, texts, feeds, groups, timelines: the names of authors.
select
    author,
    max(author_name) as author_name
from messages
where author_name is not null
group by author
