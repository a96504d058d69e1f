-- How many reports or orders a location has in a day: totals, and the day that any page starts in. Where in the day it
-- starts, the day's stretches tell.
create table day_counts (
  location_id uuid not null,
  kind text not null check (kind in ('report', 'order')),
  day date not null,
  count int not null check (count >= 0),
  primary key (location_id, kind, day)
);
insert into day_counts select location_id, kind, day, sum(count) from stretches group by 1, 2, 3;
