-- outside a transaction
-- Finds the reports whose metrics are missing.
create index concurrently if not exists reports_without_metrics on reports (location_id, day)
  where metrics_etag is distinct from etag;
