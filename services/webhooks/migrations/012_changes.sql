-- The change feed. Each report, catalog and location has one row, which moves to a new position when the thing changes,
-- so that a cursor never expires and the feed does not grow with the number of changes. Removed reports keep their row.

-- The last position of each location's feed. Whoever takes a position locks the row until the transaction ends, so that
-- positions are committed in their sequence.
create table change_positions (
  location_id uuid primary key,
  position bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

create table changes (
  location_id uuid not null,
  -- A report also stands for the orders of its till, which need 16 bytes each in the arrays below.
  type text not null check (type in ('report', 'catalog', 'location')),
  id uuid not null,
  position bigint not null,
  -- expired: removed because of its age. A till that is pushed again after that begins with revision 1.
  action text not null check (action in ('created', 'replaced', 'erased', 'removed', 'expired')),
  -- Of a report, the revision of its till. Otherwise, the number of changes.
  revision int not null,
  changed_at timestamptz(3) not null,
  order_ids uuid[] not null default '{}',
  -- Orders that the till contained in an earlier revision: those that another till of the location contains, and those
  -- that no till contained when the row got its position.
  reassigned_order_ids uuid[] not null default '{}',
  removed_order_ids uuid[] not null default '{}',
  primary key (location_id, type, id),
  unique (location_id, position)
) partition by hash (location_id);

do $$
declare
  partition text;
begin
  perform copy_grants('outbox', 'change_positions');
  perform copy_grants('outbox', 'changes');
  for number in 0 .. 31 loop
    partition := 'changes_p' || lpad(number::text, 2, '0');
    -- An update changes the indexed position, so that free space on the page would not help. Each is read past in the
    -- index of positions until it is vacuumed.
    execute format('create table %I partition of changes for values with (modulus 32, remainder %s)
      with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200)', partition, number);
    perform copy_grants('outbox', partition::regclass);
  end loop;
end
$$;

-- One row: how far a periodic task has come, which adds the reports from before this version to the feed.
create table report_backfill (
  started_at timestamptz(3) not null default now(),
  -- 1: all reports. 2: reports that were stored since the start, of which an instance of an earlier version may have
  -- handled the event.
  pass int not null default 1 check (pass in (1, 2)),
  -- The last report of the last batch, in the sequence of these columns.
  location_id uuid,
  report_id uuid,
  -- Number of reports that were added to the feed.
  added bigint not null default 0,
  finished_at timestamptz(3)
);
select copy_grants('outbox', 'report_backfill');
insert into report_backfill default values;
