-- The trace (W3C traceparent) of the request for a job, which doing it continues.
alter table jobs add column traceparent text;
