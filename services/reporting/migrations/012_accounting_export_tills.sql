-- The keys of the files and tills of accounting exports begin with the location. An export can contain tills of several
-- locations, so accounting_exports keeps its key.

-- In the sequence in which requests write to the tables, so that none of them causes a deadlock.
lock table accounting_exports, accounting_files, accounting_items in access exclusive mode;

-- Renamed, so that the column that is added does not fail requests of version 1.0, which reads all columns of the view.
alter table accounting_items rename to accounting_export_tills;
-- The location of the till and of its file.
alter table accounting_export_tills add column location_id uuid;
update accounting_export_tills till set location_id = file.location_id
from accounting_files file
where file.export_id = till.export_id and file.number = till.file_number;

-- Sets the location of a till that an instance of version 1.0 inserts, after the till's file.
create function set_accounting_export_till_location() returns trigger language plpgsql as $$
begin
  select location_id into new.location_id from accounting_files
  where export_id = new.export_id and number = new.file_number;
  return new;
end
$$;
create trigger set_accounting_export_till_location before insert on accounting_export_tills for each row
  when (new.location_id is null)
  execute function set_accounting_export_till_location();

-- A till refers to its file, and a file to its export.
alter table accounting_export_tills
  drop constraint accounting_items_export_id_fkey,
  drop constraint accounting_items_export_id_file_number_fkey,
  drop constraint accounting_items_pkey,
  add primary key (location_id, export_id, position);
alter table accounting_files
  drop constraint accounting_files_pkey,
  add primary key (location_id, export_id, number);
alter table accounting_export_tills
  add foreign key (location_id, export_id, file_number) references accounting_files;

-- For operators, who read an export of several locations by its id alone, and for version 1.0, which reads every export so.
create index accounting_files_by_export on accounting_files (export_id, number);
create index accounting_export_tills_by_export on accounting_export_tills (export_id, position);

-- A later version drops the view.
create view accounting_items as
  select export_id, position, till_id, file_number, state, failure from accounting_export_tills;
select copy_grants('accounting_export_tills', 'accounting_items');
