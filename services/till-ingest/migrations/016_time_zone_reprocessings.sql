-- Reprocessings of the tills that were computed in another time zone than this one. Null: in any time zone.
alter table till_reprocessings add column time_zone text;
