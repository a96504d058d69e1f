import { type CommonServiceConfig, ConfigError } from "./runtime-config.ts";

/** The 14 days for which streams store events, and the day by whose end sent events are removed. */
const redeliveryDays = 15;

/**
 * Checks the variables that depend on each other: handlers that hang must be abandoned before the process counts as
 * stalled, and the inbox must recognize an event that NATS loses at the end of the retention of sent events and that is
 * then redelivered for as long as a stream stores it. @throws `ConfigError`
 */
export function checkServiceConfig({
  EVENT_HANDLER_TIMEOUT_SECONDS,
  STALL_TIMEOUT_SECONDS,
  INBOX_RETENTION_DAYS,
  SENT_EVENT_RETENTION_HOURS,
}: CommonServiceConfig): void {
  const problems: string[] = [];
  if (STALL_TIMEOUT_SECONDS <= EVENT_HANDLER_TIMEOUT_SECONDS)
    problems.push(
      `STALL_TIMEOUT_SECONDS: must be more than EVENT_HANDLER_TIMEOUT_SECONDS (${EVENT_HANDLER_TIMEOUT_SECONDS})`,
    );
  const minInboxDays = redeliveryDays + Math.ceil(SENT_EVENT_RETENTION_HOURS / 24);
  if (INBOX_RETENTION_DAYS < minInboxDays)
    problems.push(
      `INBOX_RETENTION_DAYS: must be at least ${minInboxDays}: ${redeliveryDays} days and SENT_EVENT_RETENTION_HOURS (${SENT_EVENT_RETENTION_HOURS})`,
    );
  if (problems.length > 0) throw new ConfigError(problems);
}
