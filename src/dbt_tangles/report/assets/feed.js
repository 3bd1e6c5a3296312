"use strict";
// A feed: its chain, and beside it the messages that fork it, come after a gap, or follow another message.

const showFeed = (page, view, shard) => showGraph(page, view, shard, { legend: key([["k-root", "the first message"], ["k-in", "in the chain"], ["k-tip", "end of the chain (ring)"], ["k-feed-fork", "feed fork (two messages of one sequence)"],
  ["k-aside", "not in the chain"], ["k-missing", "missing"], ["k-hole", "missing sequences"]]) });
