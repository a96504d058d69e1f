import { useMemo } from "react";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Figures } from "../ui/figures.tsx";
import { LazyChart } from "../ui/lazy-chart.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Section } from "../ui/section.tsx";
import { listPeriods, type UsageRange } from "./usage-range.ts";

const refetchMs = 30_000;
/** One row for each period: at most 60. */
const pageSize = 100;

export function RequestsOverTime({ range }: { range: UsageRange }) {
  const { number } = useFormats();
  const query = useApi(
    ["usage", "time", range.name],
    (api) => {
      const since = listPeriods(range, Date.now())[0] ?? "";
      const { granularity } = range;
      return api.GET("/v1/usage", {
        params: { query: { groupBy: granularity, granularity, since, size: pageSize } },
      });
    },
    { refetchMs },
  );
  return (
    <Section title={text.requests.overTime} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ data, totals: { requestCount, failedCount } }) => (
          <>
            <Figures
              figures={[
                { name: text.requests.requests, value: number(requestCount) },
                { name: text.requests.failed, value: number(failedCount), isBad: failedCount > 0 },
              ]}
            />
            <UsageChart
              counts={data}
              range={range}
              summary={text.requests.chart(number(requestCount), number(failedCount))}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}

interface UsageChartProps {
  counts: readonly { periodStart: string | null; requestCount: number; failedCount: number }[];
  range: UsageRange;
  summary: string;
}

function UsageChart({ counts, range, summary }: UsageChartProps) {
  const { time, day, isoDay, number } = useFormats();
  const { names, series } = useMemo(() => {
    const byPeriod = new Map(counts.map((count) => [Date.parse(count.periodStart ?? ""), count]));
    const periods = listPeriods(range, Date.now());
    const found = periods.map((period) => byPeriod.get(Date.parse(period)));
    return {
      names: periods.map((period) => (range.name === "month" ? day(isoDay(new Date(period))) : time(period))),
      series: [
        {
          label: text.requests.requests,
          values: found.map((count) => count?.requestCount ?? 0),
          color: "--accent",
          isBars: true,
        },
        {
          label: text.requests.failed,
          values: found.map((count) => count?.failedCount ?? 0),
          color: "--bad",
          isBars: true,
        },
      ],
    };
  }, [counts, range, time, day, isoDay]);
  return <LazyChart summary={summary} names={names} series={series} formatValue={number} />;
}
