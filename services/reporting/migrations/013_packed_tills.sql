-- Tills that are older than HOT_DAYS are packed: one object in the object store contains the responses of the till's
-- report and orders (packing/pack-format.ts). PostgreSQL keeps what lists, counts, entity tags and ids need. A packed
-- till has a row in packed_tills, none in orders, and no texts in its row of reports.
create table packed_tills (
  location_id uuid not null,
  till_id uuid not null,
  object_key text not null,
  -- SHA-256 of the object, in hexadecimal.
  hash text not null,
  pushed_at timestamptz not null,
  -- Entity tags of orders are computed from it (entity-tags.ts). Null if they are in packed_orders.
  content_version text,
  -- The offsets in the object at which blocks end. The first block is the report.
  block_ends int[] not null,
  -- The positions of the first order of each block. 0 for the block of the report.
  block_first_positions int[] not null,
  primary key (location_id, till_id)
) partition by hash (location_id);
create index on packed_tills (location_id, object_key);

-- The orders of a packed till that were opened on the same day, in the order of their opening and their ids. The arrays
-- have one element for each order.
create table packed_orders (
  location_id uuid not null,
  till_id uuid not null,
  day date not null,
  -- As in orders. An order that several tills contain is current in only one of them.
  is_current boolean not null,
  -- The position of the first of these orders in the object.
  first_position int not null,
  ids uuid[] not null,
  opened_at timestamptz[] not null,
  -- The sizes of the V1 responses in bytes, which limit pages.
  v1_bytes int[] not null,
  -- Null if the till has a content_version.
  etags text[],
  primary key (location_id, till_id, day, is_current),
  foreign key (location_id, till_id) references packed_tills
) partition by hash (location_id);
create index on packed_orders (location_id, day) where is_current;
-- fastupdate is off, because pending entries would be searched one by one.
create index on packed_orders using gin (ids) with (fastupdate = off);

-- The latest day of an order that was ever packed. Lists of later days do not read the tables above.
create table packed_days (
  location_id uuid primary key,
  latest_day date not null
);

-- Objects to which no till refers: the row is written before the upload, or when the till is unpacked.
create table unused_objects (
  location_id uuid not null,
  object_key text not null,
  delete_after timestamptz not null,
  primary key (location_id, object_key)
);
create index on unused_objects (delete_after);

do $$
declare
  partition text;
  target text;
begin
  foreach target in array '{packed_tills, packed_orders, packed_days, unused_objects}'::text[] loop
    perform copy_grants('tills', target::regclass);
  end loop;
  for number in 0 .. 31 loop
    foreach target in array '{packed_tills, packed_orders}'::text[] loop
      partition := target || '_p' || lpad(number::text, 2, '0');
      execute format('create table %I partition of %I for values with (modulus 32, remainder %s)',
        partition, target, number);
      perform copy_grants('tills', partition::regclass);
    end loop;
  end loop;
  -- An installation whose table is partitioned later also has the empty partitioned table.
  foreach target in array '{reports, reports_partitioned}'::text[] loop
    if to_regclass(target) is null then continue; end if;
    -- Both texts are null if the till is packed.
    execute format('alter table %I
      alter column v2 drop not null,
      alter column v0 drop not null,
      add column packed_v0_bytes int', target);
    -- Finds the tills to pack. Only tills in partitioned tables are packed.
    if (select relkind = 'p' from pg_class where oid = target::regclass) then
      execute format('create index on %I (day) where v2 is not null', target);
    end if;
  end loop;
end
$$;
