-- The trace (W3C traceparent) of what a message tells of, which its deliveries continue.
alter table messages add column traceparent text;
