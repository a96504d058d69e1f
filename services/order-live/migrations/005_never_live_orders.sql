-- A closed till's orders that were never live are remembered in the row of the till, instead of in a departed row each.
-- The previous version does not read these columns: during an upgrade, its instances accept such an order if it comes
-- late with the id of another till. The departed rows of the previous version are removed after the retention period.
alter table final_tills
  -- When the point of sale closed the till.
  add column closed_at text,
  -- The orders of the till's report that were not stored when the report became final; null if all were stored.
  add column never_live_order_ids uuid[];
-- Random ids cannot be compressed.
alter table final_tills alter column never_live_order_ids set storage external;
