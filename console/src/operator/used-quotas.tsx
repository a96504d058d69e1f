import type { ApiSchemaTypes } from "@pragma/client";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { LimitTable, limitsRefetchMs, UsedShare } from "./limit-table.tsx";
import { LocationLink } from "./location-link.tsx";
import { nameLocation } from "./use-names.ts";

type QuotaUsage = ApiSchemaTypes["ServiceQuotaUsage"];

/** The locations that have used most of a daily quota today. */
export function UsedQuotas({ includesSandboxes }: { includesSandboxes: boolean }) {
  const { number, bytes } = useFormats();
  const query = useApi(["quotas"], (api) => api.GET("/v1/services/quotas"), { refetchMs: limitsRefetchMs });
  const amountOf = ({ quota }: QuotaUsage, amount: number) =>
    quota.endsWith("_bytes") ? bytes(amount) : number(amount);
  return (
    <LimitTable
      title={text.operator.quotas}
      hint={text.operator.quotasHint}
      query={query}
      renderNotice={({ unreachableServices: services }) =>
        services.length > 0 && <p className="notice notice-bad">{text.operator.quotasFailed(services.join(", "))}</p>
      }
      toRows={({ quotas }) => quotas.filter(({ isSandbox }) => includesSandboxes || !isSandbox)}
      getKey={({ service, locationId, quota }) => `${service} ${locationId} ${quota}`}
      empty={text.operator.noneUsed}
      columns={[
        {
          header: text.operator.location,
          isRowHeader: true,
          cell: ({ locationId: id, locationName: name, isSandbox }) => (
            <LocationLink id={id} name={nameLocation({ id, name, isSandbox })} />
          ),
        },
        {
          header: text.operator.quota,
          cell: ({ quota }) => <span title={quota}>{text.operator.quotaNames[quota] ?? quota}</span>,
        },
        { header: text.operator.service, isWideOnly: true, cell: ({ service }) => service },
        { header: text.operator.today, isNumeric: true, isWideOnly: true, cell: (row) => amountOf(row, row.used) },
        { header: text.operator.maximum, isNumeric: true, isWideOnly: true, cell: (row) => amountOf(row, row.maximum) },
        {
          header: text.operator.share,
          isNumeric: true,
          cell: ({ used, maximum }) => <UsedShare share={used / maximum} />,
        },
      ]}
    />
  );
}
