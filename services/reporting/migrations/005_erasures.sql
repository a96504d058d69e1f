-- When the personal data of all orders of the till was erased; null again once another body takes its place.
alter table tills add column erased_at timestamptz;
create index tills_to_erase on tills (pushed_at) where erased_at is null;
