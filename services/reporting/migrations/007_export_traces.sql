-- The trace (W3C traceparent) of the request for an export, which making it continues.
alter table accounting_exports add column traceparent text;
-- A pending export that was tried waits until its claimed_until.
