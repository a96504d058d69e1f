-- The header webhook-signature of the attempt's request; null if none was sent, or if the message has been erased since.
alter table attempts add column signature text;
