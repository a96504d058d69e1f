-- How many children a job was ever given: what they came to stays in its queue until it finishes.
alter table jobs add column children int not null default 0;
