-- The outbox is read for each event stream separately, so that events of a stream that is full are not read past again
-- and again in search of events of the other stream. `outbox_position` is for instances of version 1.0. The table is
-- almost empty except during an outage; after one, creating the index blocks writes for a second per million events.
create index outbox_stream_position on outbox
  ((case when type like 'order.%' then 'orders' else 'tills' end), position);
