import { expect, it } from "vitest";
import { type CommonServiceConfig, checkServiceConfig } from "./runtime-config.ts";

const check = (changes: Partial<CommonServiceConfig>) => {
  const defaults = {
    EVENT_HANDLER_TIMEOUT_SECONDS: 120,
    STALL_TIMEOUT_SECONDS: 900,
    INBOX_RETENTION_DAYS: 21,
    SENT_EVENT_RETENTION_HOURS: 48,
  };
  return () => checkServiceConfig({ ...defaults, ...changes } as CommonServiceConfig);
};

it("accepts the defaults", () => {
  expect(check({})).not.toThrow();
});

it("requires that handlers are abandoned before the process counts as stalled", () => {
  expect(check({ STALL_TIMEOUT_SECONDS: 120 })).toThrow("must be more than EVENT_HANDLER_TIMEOUT_SECONDS (120)");
});

it("requires that the inbox recognizes events that are published again after a loss", () => {
  expect(check({ INBOX_RETENTION_DAYS: 17 })).not.toThrow();
  expect(check({ INBOX_RETENTION_DAYS: 16 })).toThrow(
    "INBOX_RETENTION_DAYS: must be at least 17: 15 days and SENT_EVENT_RETENTION_HOURS (48)",
  );
  expect(check({ SENT_EVENT_RETENTION_HOURS: 144 })).not.toThrow();
  expect(check({ SENT_EVENT_RETENTION_HOURS: 145 })).toThrow("INBOX_RETENTION_DAYS: must be at least 22");
});
