import type { ApiSchemaTypes } from "@pragma/client";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import { listPeriods, type UsageRange } from "./usage-range.ts";

const statusClasses = ["2xx", "3xx", "4xx", "5xx"] as const;
type StatusClass = (typeof statusClasses)[number];

interface RouteCounts {
  route: string;
  total: number;
  counts: Partial<Record<StatusClass, number>>;
}

export function RequestsByRoute({ range }: { range: UsageRange }) {
  const { number } = useFormats();
  const query = useApi(["usage", "routes", range.name], (api) => {
    const since = listPeriods(range, Date.now())[0] ?? "";
    return api.GET("/v1/usage", {
      params: { query: { groupBy: "route,statusClass", granularity: range.granularity, since, size: 100 } },
    });
  });
  return (
    <Section title={text.requests.byRoute} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ data }) => (
          <Table
            label={text.requests.byRoute}
            rows={sumByRoute(data)}
            getKey={({ route }) => route}
            empty={text.requests.none}
            columns={[
              { header: text.requests.route, isRowHeader: true, cell: ({ route }) => <code>{route}</code> },
              ...statusClasses.map((statusClass) => ({
                header: statusClass,
                isNumeric: true,
                cell: ({ counts }: RouteCounts) => {
                  const count = counts[statusClass] ?? 0;
                  if (count === 0) return <span className="muted">0</span>;
                  return <span className={statusClass >= "4" ? "bad" : undefined}>{number(count)}</span>;
                },
              })),
              { header: text.requests.requests, isNumeric: true, cell: ({ total }) => number(total) },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

/** Returns a row for each route, the most used first. */
function sumByRoute(usage: readonly ApiSchemaTypes["UsageCount"][]): RouteCounts[] {
  const routes = new Map<string, RouteCounts>();
  for (const { route, statusClass, requestCount } of usage) {
    if (route === null || statusClass === null) continue;
    const { total, counts } = routes.get(route) ?? { total: 0, counts: {} };
    const sum = (counts[statusClass] ?? 0) + requestCount;
    routes.set(route, { route, total: total + requestCount, counts: { ...counts, [statusClass]: sum } });
  }
  return [...routes.values()].sort((one, other) => other.total - one.total);
}
