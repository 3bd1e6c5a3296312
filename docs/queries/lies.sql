-- One row per author: the effect of a lie. The author claims that each message was written an hour later. Pairs are
-- reversed if the order by asserted time then puts the message after one of another author that came later in truth.
-- If that message follows the author's, the links contradict the lie, and the causal order keeps the pair.
with members as (
    select
        tangle_name,
        root_id,
        message_id,
        author,
        asserted_ms
    from tangle_messages semi join tangle_ancestors using (tangle_name, root_id)
    where is_member and tangle_name <> 'ssb:feed'
),

reversed as (
    select
        liar.tangle_name,
        liar.root_id,
        liar.author,
        liar.message_id,
        other.message_id as later_id
    from members as liar join members as other using (tangle_name, root_id)
    where
        other.author <> liar.author
        and other.asserted_ms > liar.asserted_ms
        and other.asserted_ms < liar.asserted_ms + 3600000
)

select
    author,
    count(*) as reversed_pairs,
    count(ancestor_id) as kept_pairs
from reversed left join tangle_ancestors
    on
        reversed.tangle_name = tangle_ancestors.tangle_name
        and reversed.root_id = tangle_ancestors.root_id
        and reversed.later_id = tangle_ancestors.message_id
        and reversed.message_id = tangle_ancestors.ancestor_id
group by author
order by reversed_pairs desc, author
