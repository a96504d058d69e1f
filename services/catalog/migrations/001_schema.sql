-- The catalog of each location that has ever sent one. Its row is locked while the catalog is replaced.
create table catalogs (
  location_id uuid primary key,
  -- Of all five lists together.
  etag text not null,
  updated_at timestamptz(3) not null default now()
);

-- The lists of a catalog, as the text that is sent. A list that was never filled has no row.
create table catalog_lists (
  location_id uuid not null references catalogs,
  list text not null check (list in ('products', 'payments', 'taxes', 'modifiers', 'categories')),
  etag text not null,
  body text compression lz4 not null,
  primary key (location_id, list)
);
