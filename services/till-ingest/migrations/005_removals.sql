-- Since when an object is being removed: what is pushed meanwhile is written under another key.
alter table object_intents add column removing_since timestamptz;
