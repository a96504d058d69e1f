-- If accounting_items has millions of rows, first run: alter table accounting_items add column location_id uuid; and set the
-- column in batches, as below. Requests for exports wait until the rest has been set.
-- The keys of accounting files and items begin with the location. An export can contain tills of several locations, so
-- accounting_exports keeps its key.

-- In the sequence in which requests write to the tables, so that none of them causes a deadlock.
lock table accounting_exports, accounting_files, accounting_items in access exclusive mode;

-- The location of the item's file.
alter table accounting_items add column if not exists location_id uuid;
update accounting_items item set location_id = file.location_id
from accounting_files file
where file.export_id = item.export_id and file.number = item.file_number and item.location_id is null;

-- Sets the location of an item that an instance of version 1.0 inserts, after the item's file.
create function set_accounting_item_location() returns trigger language plpgsql as $$
begin
  select location_id into new.location_id from accounting_files
  where export_id = new.export_id and number = new.file_number;
  return new;
end
$$;
create trigger set_accounting_item_location before insert on accounting_items for each row
  when (new.location_id is null)
  execute function set_accounting_item_location();

-- The file of an item refers to its export.
alter table accounting_items
  drop constraint accounting_items_export_id_fkey,
  drop constraint accounting_items_export_id_file_number_fkey,
  drop constraint accounting_items_pkey,
  add primary key (location_id, export_id, position);
alter table accounting_files
  drop constraint accounting_files_pkey,
  add primary key (location_id, export_id, number);
alter table accounting_items add foreign key (location_id, export_id, file_number) references accounting_files;

-- For operators, who read an export of several locations by its id alone, and for version 1.0, which reads every export so.
create index accounting_files_by_export on accounting_files (export_id, number);
create index accounting_items_by_export on accounting_items (export_id, position);
