-- Stores the V2 response of an order once: what it shares with the V1 response of the same row is not repeated.
do $$
declare
  target text;
begin
  -- An installation whose table is partitioned later also has the empty partitioned table.
  foreach target in array '{orders, orders_partitioned}'::text[] loop
    if to_regclass(target) is null then continue; end if;
    -- Compressed in zlib's format, with the V1 response in the preset dictionary (v2-order-compression.ts). Null if the
    -- response is in v2, where version 1.0 stores it.
    execute format('alter table %I add column v2_deflated bytea', target);
    execute format('alter table %I
      alter column v2_deflated set storage external,
      alter column v2 drop not null,
      add constraint orders_v2_is_stored_once check ((v2 is null) <> (v2_deflated is null)) not valid', target);
  end loop;
end
$$;
