-- Of the body that the revision was calculated from: one revision with two bodies is a fault that somebody has to see.
alter table tills add column hash text;
