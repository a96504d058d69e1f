-- Which tills of a legacy backoffice are here already.
create index tills_by_server on tills (location_id, server_id) where server_id is not null;
