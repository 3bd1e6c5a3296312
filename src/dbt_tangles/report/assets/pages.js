"use strict";
// Pages besides the drawings. To add a page: a function (page, parts, filters) here, and its data in PAGES of build.py.

/** Pages of tables: a title, and the function that shows the data of the shard of that name. */
const PAGES = { records: ["Records", showRecords], rejects: ["Rejected lines", showRejects] };
