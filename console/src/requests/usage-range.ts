import type { usageRanges } from "../text/choices.ts";

export type UsageRangeName = (typeof usageRanges)[number];

/** A range that ends now, in the periods in which the API counts requests. */
export interface UsageRange {
  name: UsageRangeName;
  granularity: "minute" | "hour" | "day";
  periodMs: number;
  periodCount: number;
}

const ranges: Record<UsageRangeName, UsageRange> = {
  hour: { name: "hour", granularity: "minute", periodMs: 60_000, periodCount: 60 },
  day: { name: "day", granularity: "hour", periodMs: 3_600_000, periodCount: 24 },
  month: { name: "month", granularity: "day", periodMs: 86_400_000, periodCount: 30 },
};

export const usageRangeOf = (name: UsageRangeName): UsageRange => ranges[name];

/** Returns the starts of the periods of the range, oldest first, in UTC as the API counts them. */
export function listPeriods({ periodMs, periodCount }: UsageRange, now: number): string[] {
  const last = Math.floor(now / periodMs) * periodMs;
  return Array.from({ length: periodCount }, (_, index) =>
    new Date(last - (periodCount - 1 - index) * periodMs).toISOString(),
  );
}
