import type { ApiSchemaTypes } from "@pragma/client";
import { readAllPages } from "../api/read-all-pages.ts";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Ago } from "../ui/moment.tsx";
import { keyOwnerColumns, LimitTable, limitsRefetchMs, UsedShare } from "./limit-table.tsx";
import { useDefaultRateLimit } from "./use-default-rate-limit.ts";

interface LimitsProps {
  includesSandboxes: boolean;
}

const minuteMs = 60_000;

/** The keys that use most of their rate limit: how many requests they sent in the last minutes, and how many they may send. */
export function BusiestKeys({ includesSandboxes }: LimitsProps) {
  const { number } = useFormats();
  const defaultLimit = useDefaultRateLimit()?.perSecond;
  const usage = useApi(
    ["usage", "busiest", includesSandboxes],
    (api) => {
      // The current minute and the five before it. Counts arrive within a minute.
      const since = new Date(Date.now() - 5 * minuteMs).toISOString();
      const groupBy = "key,consumer,location";
      const sandboxes = includesSandboxes ? ({ includeSandboxes: "true" } as const) : {};
      return api.GET("/v1/usage", {
        params: { query: { groupBy, granularity: "minute", since, size: 100, ...sandboxes } },
      });
    },
    { refetchMs: limitsRefetchMs },
  );
  const consumers = useApi(["consumers", "limits"], (api) =>
    readAllPages((page) => api.GET("/v1/consumers", { params: { query: page } })),
  );
  const limits = new Map(consumers.data?.data.items.map(({ id, rateLimit }) => [id, rateLimit]));
  const seconds = 5 * 60;
  const toRow = (counted: ApiSchemaTypes["UsageCount"]) => {
    const perSecond = counted.requestCount / seconds;
    const limit = limits.get(counted.consumerId ?? "")?.perSecond ?? defaultLimit;
    return { ...counted, perSecond, limit, share: limit === undefined ? undefined : perSecond / limit };
  };
  return (
    <LimitTable
      title={text.operator.busiest}
      hint={text.operator.busiestHint}
      query={usage}
      toRows={({ data }) =>
        data.map(toRow).sort((one, other) => (other.share ?? 0) - (one.share ?? 0) || other.perSecond - one.perSecond)
      }
      getKey={({ keyId }) => keyId ?? ""}
      empty={text.operator.noneBusy}
      columns={[
        ...keyOwnerColumns,
        { header: text.operator.key, isWideOnly: true, cell: ({ keyPrefix }) => <code>{keyPrefix}…</code> },
        {
          header: text.operator.perSecond,
          isNumeric: true,
          cell: ({ perSecond }) => number(Math.round(perSecond * 10) / 10),
        },
        {
          header: text.operator.limit,
          isNumeric: true,
          cell: ({ limit }) => (limit === undefined ? "–" : number(limit)),
        },
        { header: text.operator.share, isNumeric: true, cell: ({ share }) => <UsedShare share={share} /> },
      ]}
    />
  );
}

/** The errors of requests that exceeded a limit. */
const limitErrors: readonly (string | null)[] = [
  "rate_limited",
  "quota_exceeded",
  "limit_reached",
  "too_many_jobs",
  "too_many_streams",
  "too_many_waiting_requests",
  "too_many_sandboxes",
];

export function RefusedRequests({ includesSandboxes }: LimitsProps) {
  const { number } = useFormats();
  const query = useApi(
    ["failures", "limits", includesSandboxes],
    (api) =>
      api.GET("/v1/usage/failures", {
        params: { query: { size: 100, ...(includesSandboxes && { includeSandboxes: "true" }) } },
      }),
    { refetchMs: limitsRefetchMs },
  );
  return (
    <LimitTable
      title={text.operator.refused}
      hint={text.operator.refusedHint}
      query={query}
      toRows={({ data }) => data.filter(({ code }) => limitErrors.includes(code))}
      getKey={({ id }) => id}
      empty={text.operator.noneRefused}
      columns={[
        ...keyOwnerColumns,
        { header: text.operator.limit, cell: ({ code }) => <code>{code}</code> },
        { header: text.operator.requests, isNumeric: true, cell: ({ count }) => number(count) },
        { header: text.operator.when, cell: ({ failedAt }) => <Ago at={failedAt} /> },
      ]}
    />
  );
}
