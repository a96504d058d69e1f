/**
 * The metrics of other programs that the alert rules use, with the labels that the rules use, by name. An alert about
 * a disk, a backup or a certificate uses the metrics of several programs, because installations differ.
 */
export const labelsByServerMetric: Record<string, readonly string[]> = {
  // Prometheus itself: whether it could scrape a target.
  up: ["job", "instance"],
  // postgres_exporter.
  pg_up: [],
  pg_stat_archiver_last_archive_age: [],
  pg_stat_archiver_failed_count: [],
  pg_database_wraparound_age_datfrozenxid_seconds: ["datname"],
  // CloudNativePG and its Barman Cloud plugin.
  cnpg_collector_up: [],
  cnpg_collector_last_available_backup_timestamp: [],
  barman_cloud_cloudnative_pg_io_last_available_backup_timestamp: [],
  cnpg_pg_stat_archiver_seconds_since_last_archival: [],
  cnpg_pg_stat_archiver_failed_count: [],
  cnpg_pg_database_xid_age: ["datname"],
  // redis_exporter.
  redis_up: [],
  redis_memory_used_bytes: [],
  redis_memory_max_bytes: [],
  // node_exporter, and the file that a backup of Docker Compose writes for it.
  node_filesystem_avail_bytes: ["mountpoint"],
  node_filesystem_size_bytes: ["mountpoint"],
  backup_completed_timestamp_seconds: ["backup"],
  // The kubelet, cAdvisor in the kubelet, and kube-state-metrics.
  kubelet_volume_stats_available_bytes: ["namespace", "persistentvolumeclaim"],
  kubelet_volume_stats_capacity_bytes: ["namespace", "persistentvolumeclaim"],
  container_memory_working_set_bytes: ["namespace", "pod", "container"],
  container_spec_memory_limit_bytes: ["namespace", "pod", "container"],
  kube_cronjob_status_last_successful_time: ["namespace", "cronjob"],
  // blackbox_exporter, cert-manager and x509-certificate-exporter.
  probe_ssl_earliest_cert_expiry: ["instance"],
  certmanager_certificate_expiration_timestamp_seconds: ["namespace", "name"],
  x509_cert_not_after: ["secret_namespace", "secret_name"],
};
