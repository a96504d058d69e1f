import type { ApiSchemaTypes } from "@pragma/client";
import { useMemo } from "react";
import { useApi } from "../api/use-api.ts";
import { addDays } from "../format/formats.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { LazyChart } from "../ui/lazy-chart.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Section } from "../ui/section.tsx";

const measures = ["sales", "orders", "guests", "averageOrder"] as const;

/** The sales of the last seven complete days, against the seven days before. */
export function WeekSales({ today }: { today: string }) {
  const { day } = useFormats();
  const since = addDays(today, -7);
  const until = addDays(today, -1);
  const query = useApi(["metrics", "week", since], (api) =>
    api.GET("/v1/metrics", {
      params: { query: { measures: measures.join(","), dimensions: "day", since, until, compare: "previous_period" } },
    }),
  );
  return (
    <Section
      className="home-week"
      title={text.home.week(day(since), day(until))}
      actions={<CopyRequest url={query.data?.url} />}
    >
      <Loaded query={query}>
        {(metrics) => (
          <>
            <WeekFigures metrics={metrics} />
            <WeekChart metrics={metrics} since={since} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

type Metrics = ApiSchemaTypes["Metrics"];

function WeekFigures({ metrics: { totals } }: { metrics: Metrics }) {
  const { money, number, change, currency } = useFormats();
  const total = totals.find((each) => each.currency === currency) ?? totals[0];
  if (!total) return <p className="empty">{text.home.noSales}</p>;
  return (
    <dl className="figures">
      {measures.map((measure) => {
        const value = total.values[measure];
        const percent = total.comparison?.percents[measure];
        const isAmount = measure === "sales" || measure === "averageOrder";
        return (
          <div key={measure}>
            <dt>{text.measures[measure]}</dt>
            <dd>
              <span className="figure">
                {value === null || value === undefined ? "–" : (isAmount ? money : number)(value)}
              </span>
              {typeof percent === "number" && (
                <span className={`change ${percent < 0 ? "change-down" : "change-up"}`}>
                  {change(percent)} <span className="visually-hidden">{text.home.thanWeekBefore}</span>
                </span>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function WeekChart({ metrics, since }: { metrics: Metrics; since: string }) {
  const { weekday, money, roundedMoney } = useFormats();
  const { names, series, summary } = useMemo(() => {
    const dates = Array.from({ length: 7 }, (_, index) => addDays(since, index));
    const findRow = (date: string) => metrics.data.find(({ dimensions }) => dimensions.day === date);
    const current = dates.map((date) => findRow(date)?.values.sales ?? 0);
    const before = dates.map((date) => findRow(date)?.comparison?.values.sales ?? 0);
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    return {
      names: dates.map(weekday),
      series: [
        { label: text.home.thisWeek, values: current, color: "--accent", isBars: true },
        { label: text.home.weekBefore, values: before, color: "--muted", isDashed: true },
      ],
      summary: text.home.chart(money(sum(current)), money(sum(before))),
    };
  }, [metrics, since, weekday, money]);
  return <LazyChart summary={summary} names={names} series={series} formatValue={roundedMoney} />;
}
