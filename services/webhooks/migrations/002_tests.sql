-- Test messages are few, and are sent to webhooks that are paused, too: they are found apart from what waits there.
create index deliveries_tests on deliveries (due_at) where state = 'pending' and event = 'test';
