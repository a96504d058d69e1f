-- When a device was last seen: what is heard of it may arrive in another order than it happened in.
alter table devices add last_seen_at timestamptz(3) not null default now();
