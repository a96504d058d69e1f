-- Tills whose report is final are forgotten together with the orders that departed.
alter table final_tills add column finished_at timestamptz not null default now();
create index if not exists final_tills_finished_at on final_tills (finished_at);
