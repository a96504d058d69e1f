import type { ApiSchemaTypes } from "@pragma/client";
import type { AdminApiClient } from "@pragma/client/api-client";
import { useAllLocations } from "../api/use-all-locations.ts";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { type ServiceName, serviceNames } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { LimitTable, limitsRefetchMs, maxShownLimits, UsedShare } from "./limit-table.tsx";
import { LocationLink } from "./location-link.tsx";
import { useLocationNames } from "./use-names.ts";

type QuotaUsage = ApiSchemaTypes["QuotaUsage"];

/** The locations that have used most of a daily quota today. */
export function UsedQuotas({ includesSandboxes }: { includesSandboxes: boolean }) {
  const { number, bytes } = useFormats();
  const locationNames = useLocationNames();
  const locations = useAllLocations();
  const known = locations.data?.data;
  const isShown = ({ locationId }: QuotaUsage) => {
    const location = known?.items.find(({ id }) => id === locationId);
    // Others are removed locations, such as sandboxes, and operators' keys, unless there are too many locations to be sure.
    return location ? includesSandboxes || !location.isSandbox : known?.isComplete !== true;
  };
  const query = useApi(
    ["quotas", includesSandboxes],
    async (api) => {
      const lists = await Promise.allSettled(serviceNames.map((service) => readMostUsed(api, service, isShown)));
      const rows = lists.flatMap((list) => (list.status === "fulfilled" ? list.value : []));
      // A service that does not respond must not hide the quotas of the others.
      const failed = serviceNames.filter((_, index) => lists[index]?.status === "rejected");
      return { data: { rows, failed }, response: new Response() };
    },
    { refetchMs: limitsRefetchMs, isEnabled: !locations.isPending },
  );
  const amountOf = ({ quota }: QuotaUsage, amount: number) =>
    quota.endsWith("_bytes") ? bytes(amount) : number(amount);
  return (
    <LimitTable
      title={text.operator.quotas}
      hint={text.operator.quotasHint}
      query={query}
      hasOneRequest={false}
      renderNotice={({ failed }) =>
        failed.length > 0 && <p className="notice notice-bad">{text.operator.quotasFailed(failed.join(", "))}</p>
      }
      toRows={({ rows }) => rows.toSorted((one, other) => shareOf(other) - shareOf(one))}
      getKey={({ service, locationId, quota }) => `${service} ${locationId} ${quota}`}
      empty={text.operator.noneUsed}
      columns={[
        {
          header: text.operator.location,
          isRowHeader: true,
          cell: ({ locationId }) => <LocationLink id={locationId} names={locationNames} />,
        },
        { header: text.operator.quota, cell: ({ quota }) => <code>{quota}</code> },
        { header: text.operator.service, isWideOnly: true, cell: ({ service }) => service },
        { header: text.operator.today, isNumeric: true, isWideOnly: true, cell: (row) => amountOf(row, row.used) },
        { header: text.operator.maximum, isNumeric: true, isWideOnly: true, cell: (row) => amountOf(row, row.maximum) },
        { header: text.operator.share, isNumeric: true, cell: (row) => <UsedShare share={shareOf(row)} /> },
      ]}
    />
  );
}

const shareOf = ({ used, maximum }: QuotaUsage) => used / maximum;

/** Reads pages until enough quotas can be shown, because those of many sandboxes can come first. */
async function readMostUsed(api: AdminApiClient, service: ServiceName, isShown: (usage: QuotaUsage) => boolean) {
  const shown: (QuotaUsage & { service: ServiceName })[] = [];
  for (let pageToken: string | null | undefined; pageToken !== null && shown.length < maxShownLimits; ) {
    const query = { size: 100, ...(pageToken !== undefined && { pageToken }) };
    const { data } = await api.GET("/v1/services/{service}/quotas", { params: { path: { service }, query } });
    shown.push(...data.data.filter(isShown).map((usage) => ({ ...usage, service })));
    pageToken = data.nextPageToken;
  }
  return shown;
}
